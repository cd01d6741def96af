# One function per kind of target. Sources are listed, never globbed.

find_program(HYPERFRAMES_CCACHE ccache)
if(HYPERFRAMES_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${HYPERFRAMES_CCACHE}")
endif()

add_library(hyperframes_flags INTERFACE)
target_compile_features(hyperframes_flags INTERFACE cxx_std_20)
target_compile_options(hyperframes_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual
  $<$<BOOL:${HYPERFRAMES_WERROR}>:-Werror>)
if(HYPERFRAMES_SANITIZE STREQUAL "address")
  set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(HYPERFRAMES_SANITIZE STREQUAL "thread")
  set(sanitizers -fsanitize=thread -fno-omit-frame-pointer)
  # Boost.Asio fences memory; the sanitizer does not know fences, and sees the locks beside them.
  target_compile_options(hyperframes_flags INTERFACE -Wno-tsan)
endif()
target_compile_options(hyperframes_flags INTERFACE ${sanitizers})
target_link_options(hyperframes_flags INTERFACE ${sanitizers})

# The one public header under its public name, also in the build tree.
set(public_include "${CMAKE_BINARY_DIR}/include")
file(CONFIGURE OUTPUT "${public_include}/hyperframes/hyperframes.hpp"
     CONTENT "#include \"graphs/hyperframes.hpp\"\n")

# hyperframes_library(NAME SOURCES ... [PUBLIC libs] [PRIVATE libs]): a folder of the house.
function(hyperframes_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(hyperframes_${name} STATIC ${ARG_SOURCES})
  add_library(hyperframes::${name} ALIAS hyperframes_${name})
  set_target_properties(hyperframes_${name} PROPERTIES EXPORT_NAME ${name}
    POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
  target_compile_features(hyperframes_${name} PUBLIC cxx_std_20)
  target_include_directories(hyperframes_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${public_include}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/hyperframes>)
  target_link_libraries(hyperframes_${name} PUBLIC ${ARG_PUBLIC}
    PRIVATE $<BUILD_INTERFACE:hyperframes_flags> ${ARG_PRIVATE})
  set_property(GLOBAL APPEND PROPERTY HYPERFRAMES_LIBRARIES hyperframes_${name})
endfunction()

# hyperframes_program(NAME SOURCES ... LIBRARIES ...)
function(hyperframes_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  target_link_libraries(${name} PRIVATE hyperframes_flags ${ARG_LIBRARIES})
endfunction()

# hyperframes_tests(FOLDER SOURCES a_test.cpp ... LIBRARIES ...): one program per folder, one
# ctest entry per file.
function(hyperframes_tests folder)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_executable(${folder}_tests ${PROJECT_SOURCE_DIR}/tests/main.cpp ${ARG_SOURCES})
  set_target_properties(${folder}_tests PROPERTIES CXX_EXTENSIONS OFF)
  target_include_directories(${folder}_tests PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${folder}_tests PRIVATE
    HYPERFRAMES_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    HYPERFRAMES_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
  target_link_libraries(${folder}_tests PRIVATE hyperframes_flags doctest::doctest ${ARG_LIBRARIES})
  foreach(source IN LISTS ARG_SOURCES)
    get_filename_component(stem ${source} NAME_WE)
    add_test(NAME ${folder}/${stem} COMMAND ${folder}_tests --source-file=*/${source}
             WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
    set_tests_properties(${folder}/${stem} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
    if(HYPERFRAMES_SANITIZE STREQUAL "thread")
      set_tests_properties(${folder}/${stem} PROPERTIES ENVIRONMENT
        "TSAN_OPTIONS=second_deadlock_stack=1:suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.suppressions")
    endif()
  endforeach()
endfunction()
