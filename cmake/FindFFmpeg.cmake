# Finds FFmpeg's libraries through pkg-config.
#
#   find_package(FFmpeg COMPONENTS avformat avcodec avutil swscale)
#
# FFmpeg::<component>          one imported target each
# FFmpeg_<component>_VERSION   the library's own version
# FFmpeg_VERSION               that of libavcodec, which the required version is compared with (59 is FFmpeg 5.0)

set(FFmpeg_VERSION "")
set(FFmpeg_NOT_FOUND_MESSAGE "")
set(_missing "")
find_package(PkgConfig QUIET)
if(NOT PkgConfig_FOUND)
  set(_missing "pkg-config")
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
      list(APPEND _missing "lib${_component}")
    endif()
  endforeach()
  set(FFmpeg_VERSION "${FFmpeg_avcodec_VERSION}")
endif()
if(_missing)
  list(JOIN _missing ", " _missing)
  set(FFmpeg_NOT_FOUND_MESSAGE "without ${_missing}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(FFmpeg
  REQUIRED_VARS FFmpeg_VERSION
  VERSION_VAR FFmpeg_VERSION
  HANDLE_COMPONENTS
  REASON_FAILURE_MESSAGE "${FFmpeg_NOT_FOUND_MESSAGE}")
unset(_component)
unset(_missing)
