# make package: a relocatable tarball and a .deb with the program, what drafts for SmolLM2, libtorch, and core for other CMake projects.
# Both run on Debian 12 and Ubuntu 24.04: a library whose name differs between them comes along, the others are packages of the system.
# scripts/check_package installs them into empty systems and uses them.
set(CPACK_PACKAGE_NAME triescope)
set(CPACK_PACKAGE_VENDOR triescope)
set(CPACK_PACKAGE_CONTACT "the triescope project")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "See a language model choose its words")
set(CPACK_PACKAGE_DESCRIPTION "A window that drives a real decoder step by step and draws it: the beam trie, the attention mask, \
KV slots, drafts and verdicts. Also headless, and as a library.")
set(CPACK_PACKAGE_FILE_NAME "triescope-${PROJECT_VERSION}-linux-x86_64")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
set(CPACK_PACKAGING_INSTALL_PREFIX "")
set(CPACK_DEB_PACKAGING_INSTALL_PREFIX /usr)
execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE _libc OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REGEX REPLACE "^glibc " "" _libc "${_libc}")
string(REPLACE ";" ", " CPACK_DEBIAN_PACKAGE_DEPENDS
    "libc6 (>= ${_libc});libstdc++6 (>= 12);libgcc-s1;zlib1g;libsqlite3-0;libpcre2-8-0;libmd4c0;libcairo2;\
libpango-1.0-0;libpangocairo-1.0-0;libglib2.0-0 | libglib2.0-0t64;libgif7;libglfw3;libfreetype6;libfontconfig1;libopengl0;libgl1;fonts-dejavu-core")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
    "fonts-inter, fonts-jetbrains-mono, fonts-noto-core, fonts-droid-fallback, fonts-symbola, fonts-noto-color-emoji, libgl1-mesa-dri")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libsqlite3-dev, nlohmann-json3-dev, libpcre2-dev, libutf8proc-dev")
include(CPack)
