# Installs the build tree BUILD into WORK, builds the consumer against that alone and runs it.
foreach(command IN ITEMS
    "${CMAKE_COMMAND};--install;${BUILD};--prefix;${WORK}/prefix"
    "${CMAKE_COMMAND};-S;${SOURCE};-B;${WORK}/build;-G;Ninja;-DCMAKE_BUILD_TYPE=${TYPE};-DCMAKE_PREFIX_PATH=${WORK}/prefix"
    "${CMAKE_COMMAND};--build;${WORK}/build"
    "${WORK}/build/consumer;${WORK}/prefix/share/hyperframes/graphs/models/parts.onnx"
    "${WORK}/prefix/bin/hyperframes;validate;${WORK}/prefix/share/hyperframes/graphs/inspection.yaml")
  execute_process(COMMAND ${command} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed with ${status}: ${command}")
  endif()
endforeach()
