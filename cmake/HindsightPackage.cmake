# The Debian package: what is installed where, and how CPack makes a .deb of it. `./dev package` calls it; the image is made of the .deb.
#
# Nothing of this is part of a build: manual pages and completion are asked of the programs when they are installed.

set(HINDSIGHT_MAINTAINER "Hindsight maintainers <hindsight@example.org>" CACHE STRING "Who stands in the package as its maintainer")
# `cpack` installs what was built and does not build all tests first.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

set(package_scripts "${PROJECT_SOURCE_DIR}/scripts/package")
set(package_made "${PROJECT_BINARY_DIR}/package")

install(TARGETS hindsight hindsight-verify RUNTIME DESTINATION bin)
install(CODE "
  # Of the commit or release, so that equal sources give equal packages.
  string(TIMESTAMP date \"%Y-%m-%d\" UTC)
  set(python \"${Python3_EXECUTABLE}\")
  set(programs --hindsight \"$<TARGET_FILE:hindsight>\" --verify \"$<TARGET_FILE:hindsight-verify>\")
  execute_process(COMMAND \${python} \"${package_scripts}/manual.py\" man \${programs} --date \${date} --out \"${package_made}/man\" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND \${python} \"${package_scripts}/manual.py\" completion \${programs} --out \"${package_made}/completion\" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND \${python} \"${package_scripts}/documents.py\" --build \"${PROJECT_BINARY_DIR}\" --out \"${package_made}/doc\" COMMAND_ERROR_IS_FATAL ANY)
  # kubectl calls a program of this name for 'kubectl hindsight'.
  file(MAKE_DIRECTORY \"${package_made}/bin\")
  file(CREATE_LINK hindsight \"${package_made}/bin/kubectl-hindsight\" SYMBOLIC)
  foreach(folder deploy examples)
    file(CREATE_LINK ../../hindsight/\${folder} \"${package_made}/\${folder}\" SYMBOLIC)
  endforeach()
")
install(FILES "${package_made}/bin/kubectl-hindsight" DESTINATION bin)
install(DIRECTORY "${package_made}/man/" DESTINATION share/man/man1 FILES_MATCHING PATTERN "*.1.gz")
install(FILES "${package_made}/completion/bash" DESTINATION share/bash-completion/completions RENAME hindsight)
install(FILES "${package_made}/completion/zsh" DESTINATION share/zsh/vendor-completions RENAME _hindsight)
install(FILES "${package_made}/completion/fish" DESTINATION share/fish/vendor_completions.d RENAME hindsight.fish)
install(FILES "${package_made}/doc/changelog.gz" "${package_made}/doc/third-party.gz" "${package_scripts}/debian/copyright" DESTINATION share/doc/hindsight)
# The documents, so that an alert's runbook and the remedy of a message can be read where the program is. What they refer to beside themselves
# lies where it does in the sources.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION share/doc/hindsight)
install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/ARCHITECTURE.md" "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION share/doc/hindsight)
install(FILES "${PROJECT_SOURCE_DIR}/bench/RESULTS.md" DESTINATION share/doc/hindsight/bench)
install(FILES "${package_made}/deploy" "${package_made}/examples" DESTINATION share/doc/hindsight)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples/" DESTINATION share/hindsight/examples)
# Manifests, chart and definitions; not what makes the image and the definitions.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/deploy/" DESTINATION share/hindsight/deploy
  PATTERN container EXCLUDE PATTERN systemd EXCLUDE PATTERN description EXCLUDE PATTERN "*.py" EXCLUDE PATTERN __pycache__ EXCLUDE)

install(FILES "${PROJECT_SOURCE_DIR}/deploy/systemd/hindsight.service" DESTINATION lib/systemd/system)
install(FILES "${PROJECT_SOURCE_DIR}/deploy/systemd/config.yaml" DESTINATION /etc/hindsight)

# ---------------------------------------------------------------- CPack

set(CPACK_GENERATOR DEB)
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_NAME hindsight)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_CONTACT "${HINDSIGHT_MAINTAINER}")
set(CPACK_PACKAGE_VENDOR Hindsight)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "batch admission control for Kubernetes that never forgets")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Hindsight queues jobs and admits them within quota, with ClusterQueues, cohorts, borrowing, preemption,
fair sharing and priorities, through the API of Kueue. Every input and every decision is a record in an
append-only log, which tells why a job waited or was preempted, at any past moment.
.
The package holds the controller, its command line, the checker of evidence (hindsight-verify), a service
for machines outside of the cluster, and the definitions and manifests that a cluster needs.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "ca-certificates, tzdata")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "kubernetes-client")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${package_scripts}/debian/conffiles;${package_scripts}/debian/postinst;${package_scripts}/debian/prerm;${package_scripts}/debian/postrm")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# Only the package itself is packed, never the sources.
set(CPACK_SOURCE_GENERATOR "")
include(CPack)
