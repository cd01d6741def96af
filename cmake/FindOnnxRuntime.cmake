# Finds ONNX Runtime: Debian's package, the official release archive, or what tools/setup brings.
#
#   find_package(OnnxRuntime [1.17])
#
# OnnxRuntime::OnnxRuntime   imported target; its headers are included as <onnxruntime_cxx_api.h>
# OnnxRuntime_VERSION        version of the programming interface that the headers have, "1.<ORT_API_VERSION>"
#
# A place of its own is named with -DOnnxRuntime_ROOT=DIR or CMAKE_PREFIX_PATH.

find_path(OnnxRuntime_INCLUDE_DIR
  NAMES onnxruntime_cxx_api.h
  PATH_SUFFIXES include include/onnxruntime include/onnxruntime/core/session
  DOC "Folder of onnxruntime_cxx_api.h")
find_library(OnnxRuntime_LIBRARY
  NAMES onnxruntime
  DOC "ONNX Runtime's library")
mark_as_advanced(OnnxRuntime_INCLUDE_DIR OnnxRuntime_LIBRARY)

set(OnnxRuntime_VERSION "")
if(OnnxRuntime_INCLUDE_DIR AND EXISTS "${OnnxRuntime_INCLUDE_DIR}/onnxruntime_c_api.h")
  file(STRINGS "${OnnxRuntime_INCLUDE_DIR}/onnxruntime_c_api.h" _line REGEX "^#define ORT_API_VERSION +[0-9]+")
  if(_line MATCHES "([0-9]+)[ \t]*$")
    set(OnnxRuntime_VERSION "1.${CMAKE_MATCH_1}")
  endif()
  unset(_line)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OnnxRuntime
  REQUIRED_VARS OnnxRuntime_LIBRARY OnnxRuntime_INCLUDE_DIR
  VERSION_VAR OnnxRuntime_VERSION)

if(OnnxRuntime_FOUND AND NOT TARGET OnnxRuntime::OnnxRuntime)
  add_library(OnnxRuntime::OnnxRuntime UNKNOWN IMPORTED)
  set_target_properties(OnnxRuntime::OnnxRuntime PROPERTIES
    IMPORTED_LOCATION "${OnnxRuntime_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${OnnxRuntime_INCLUDE_DIR}")
endif()
