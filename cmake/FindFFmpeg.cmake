# Finds FFmpeg's libraries through pkg-config.
#
#   find_package(FFmpeg COMPONENTS avformat avcodec avutil swscale)
#
# FFmpeg::<component>          one imported target each
# FFmpeg_<component>_VERSION   the library's own version
# FFmpeg_VERSION               that of libavcodec, which the required version is compared with (59 is FFmpeg 5.0)

set(FFmpeg_VERSION "")
set(_ffmpeg_about "")
find_package(PkgConfig QUIET)
if(NOT PkgConfig_FOUND)
  set(_ffmpeg_about "pkg-config is missing")
else()
  if(NOT FFmpeg_FIND_COMPONENTS)
    set(FFmpeg_FIND_COMPONENTS avformat avcodec avutil swscale)
  endif()
  foreach(_component IN LISTS FFmpeg_FIND_COMPONENTS)
    pkg_check_modules(FFmpeg_${_component} QUIET IMPORTED_TARGET GLOBAL lib${_component})
    if(FFmpeg_${_component}_FOUND)
      if(NOT TARGET FFmpeg::${_component})
        add_library(FFmpeg::${_component} ALIAS PkgConfig::FFmpeg_${_component})
      endif()
    else()
      string(APPEND _ffmpeg_about "lib${_component} is missing; ")
    endif()
  endforeach()
  set(FFmpeg_VERSION "${FFmpeg_avcodec_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(FFmpeg
  REQUIRED_VARS FFmpeg_VERSION
  VERSION_VAR FFmpeg_VERSION
  HANDLE_COMPONENTS
  REASON_FAILURE_MESSAGE "${_ffmpeg_about}")
unset(_component)
unset(_ffmpeg_about)
