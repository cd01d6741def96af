# Finds every library that HyperFrames is built from and says in one sentence which one is missing or too old.
#
# Looks where CMake looks by itself and in the cache that tools/setup fills. After it:
#   CAF::core  CAF::io  CAF::openssl     (core alone where HYPERFRAMES_SANITIZE is "thread")
#   opencv_core opencv_imgproc opencv_imgcodecs opencv_objdetect opencv_dnn opencv_videoio
#   Boost::headers  yaml-cpp::yaml-cpp  CLI11::CLI11  doctest::doctest  nlohmann_json::nlohmann_json
#   FFmpeg::avformat FFmpeg::avcodec FFmpeg::avutil FFmpeg::swscale  Threads::Threads
#   OnnxRuntime::OnnxRuntime             where HYPERFRAMES_HAS_ONNXRUNTIME is ON

list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")

# --- the cache of tools/setup

if(DEFINED ENV{HYPERFRAMES_DEPS})
  set(_deps "$ENV{HYPERFRAMES_DEPS}")
elseif(DEFINED ENV{XDG_CACHE_HOME})
  set(_deps "$ENV{XDG_CACHE_HOME}/hyperframes")
else()
  set(_deps "$ENV{HOME}/.cache/hyperframes")
endif()
set(HYPERFRAMES_DEPS "${_deps}" CACHE PATH "Folder that tools/setup fills with what Debian does not package")
unset(_deps)

set(HYPERFRAMES_CAF_MINIMUM 0.18.7)
if(HYPERFRAMES_SANITIZE STREQUAL "thread")
  # A CAF that was built without the sanitizer reports races that are none: no other one may be found.
  set(CAF_ROOT "${HYPERFRAMES_DEPS}/caf-${HYPERFRAMES_CAF_MINIMUM}-tsan")
  set(_caf_setup "tools/setup --tsan")
  set(_caf_components core)
  set(_caf_only NO_DEFAULT_PATH PATHS "${CAF_ROOT}")
else()
  # At the end: what the user puts into CMAKE_PREFIX_PATH comes first. Where the machine has a CAF of its own,
  # tools/setup builds none.
  list(APPEND CMAKE_PREFIX_PATH "${HYPERFRAMES_DEPS}/caf-${HYPERFRAMES_CAF_MINIMUM}")
  set(_caf_setup "tools/setup")
  set(_caf_components core io openssl)
  set(_caf_only "")
endif()
list(APPEND CMAKE_PREFIX_PATH "${HYPERFRAMES_DEPS}/onnxruntime")

# --- how a dependency is asked for

# hyperframes_require(NAME MINIMUM [ARGUMENT OF find_package]...)
# find_package that ends with one sentence naming what was expected, what was found and what to do.
macro(hyperframes_require _name _minimum)
  find_package(${_name} ${_minimum} ${ARGN} QUIET)
  if(NOT ${_name}_FOUND)
    hyperframes_missing(${_name} "${_minimum}" "tools/setup")
  endif()
endmacro()

function(hyperframes_missing name minimum setup)
  set(found "none was found")
  if(${name}_CONSIDERED_VERSIONS)
    list(REMOVE_DUPLICATES ${name}_CONSIDERED_VERSIONS)
    list(JOIN ${name}_CONSIDERED_VERSIONS ", " versions)
    list(JOIN ${name}_CONSIDERED_CONFIGS ", " places)
    set(found "found ${versions} (${places})")
  elseif(${name}_VERSION)
    set(found "found ${${name}_VERSION}")
  endif()
  if(${name}_NOT_FOUND_MESSAGE)
    string(APPEND found ", ${${name}_NOT_FOUND_MESSAGE}")
  endif()
  set(expected "")
  if(name STREQUAL "CAF")
    set(expected " ${minimum} or newer, below 2,")
  elseif(minimum)
    set(expected " ${minimum} or newer")
  endif()
  message(FATAL_ERROR "${name}${expected} is needed, ${found}: run ${setup}, or point CMAKE_PREFIX_PATH at one.")
endfunction()

# --- required

# CAF has one interface up to 2. CMake calls 1.x incompatible with 0.18.7, so the check is ours.
find_package(CAF COMPONENTS ${_caf_components} CONFIG QUIET ${_caf_only})
if(NOT CAF_FOUND OR CAF_VERSION VERSION_LESS HYPERFRAMES_CAF_MINIMUM OR CAF_VERSION VERSION_GREATER_EQUAL 2)
  set(CAF_CONSIDERED_VERSIONS "")
  hyperframes_missing(CAF "${HYPERFRAMES_CAF_MINIMUM}" "${_caf_setup}")
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
hyperframes_require(Threads "")
hyperframes_require(OpenCV 4.6 COMPONENTS core imgproc imgcodecs objdetect dnn videoio)
hyperframes_require(Boost 1.81)
hyperframes_require(yaml-cpp 0.7)
hyperframes_require(CLI11 2.1)
hyperframes_require(doctest 2.4.9)
hyperframes_require(nlohmann_json 3.11)
hyperframes_require(FFmpeg 59 COMPONENTS avformat avcodec avutil swscale)
hyperframes_require(OpenSSL 3.0)

# yaml-cpp names its target with a namespace from 0.8 on.
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp INTERFACE IMPORTED)
  target_link_libraries(yaml-cpp::yaml-cpp INTERFACE yaml-cpp)
endif()

# --- optional

set(HYPERFRAMES_ONNXRUNTIME AUTO CACHE STRING "ONNX Runtime backend: AUTO (where it is found), ON (required), OFF")
set_property(CACHE HYPERFRAMES_ONNXRUNTIME PROPERTY STRINGS AUTO ON OFF)
set(HYPERFRAMES_HAS_ONNXRUNTIME OFF)
if(HYPERFRAMES_ONNXRUNTIME)
  find_package(OnnxRuntime 1.17 QUIET)
  if(OnnxRuntime_FOUND)
    set(HYPERFRAMES_HAS_ONNXRUNTIME ON)
  elseif(NOT HYPERFRAMES_ONNXRUNTIME STREQUAL "AUTO")
    hyperframes_missing(OnnxRuntime 1.17 "tools/setup")
  endif()
endif()

# --- what was found, once

set(_found "CAF ${CAF_VERSION}, OpenCV ${OpenCV_VERSION}, Boost ${Boost_VERSION}, FFmpeg (libavcodec) ${FFmpeg_VERSION}")
if(HYPERFRAMES_HAS_ONNXRUNTIME)
  message(STATUS "HyperFrames: ${_found}, ONNX Runtime ${OnnxRuntime_VERSION}")
else()
  message(STATUS "HyperFrames: ${_found}; without the backend `onnxruntime`: no ONNX Runtime >= 1.17 with headers "
    "and library was found or HYPERFRAMES_ONNXRUNTIME is OFF (tools/setup brings one)")
endif()
unset(_found)
unset(_caf_components)
unset(_caf_only)
unset(_caf_setup)
