# What `cmake --install` brings: the command, the libraries, the headers under hyperframes/, the graphs that
# we ship, and a package that find_package(hyperframes) finds.
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY HYPERFRAMES_LIBRARIES)
install(TARGETS ${libraries} EXPORT hyperframes-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT hyperframes-targets NAMESPACE hyperframes::
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hyperframes)
foreach(folder IN ITEMS runtime cameras actors graphs)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hyperframes FILES_MATCHING PATTERN "*.hpp")
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/graphs/hyperframes.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hyperframes)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/graphs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/hyperframes/graphs
        FILES_MATCHING PATTERN "*.yaml" PATTERN "*.onnx" PATTERN "*.txt" PATTERN "CMakeLists.txt" EXCLUDE
        PATTERN "*.schema.json")
install(FILES ${PROJECT_SOURCE_DIR}/cmake/Dependencies.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindFFmpeg.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindOnnxRuntime.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hyperframes)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/hyperframes-config.cmake.in
  ${PROJECT_BINARY_DIR}/hyperframes-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hyperframes)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hyperframes-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hyperframes-config.cmake
              ${PROJECT_BINARY_DIR}/hyperframes-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hyperframes)
