# Compiler, linker and warning settings that hold for every target.

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_LINK_DEPENDS_NO_SHARED ON)

# The release is built without line numbers, which cost a sixth of the first build; names of functions are there all the same, for
# profiles. In the others -g1 keeps line numbers for stack traces at a fraction of the size of -g. The development build keeps asserts.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1 -D_GLIBCXX_ASSERTIONS")
# With g++ such a build takes a quarter less time so (-O0 takes longer: more code is left to be written). What tests spend most of their time in
# is optimized more (HINDSIGHT_HOT_OPTIONS).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_BUILD_TYPE STREQUAL "Release")
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-Og -g1 -D_GLIBCXX_ASSERTIONS")
  if(NOT HINDSIGHT_SANITIZE MATCHES "thread")
    set(HINDSIGHT_HOT_OPTIONS -O1)
  endif()
endif()

# The main binary lies at the top of the build folder: build/release/hindsight.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")

add_compile_options(
  -Werror -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wconversion
  # Designated initialisers leave members at their default on purpose.
  -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Nothing is collected below half a gigabyte: a tenth of the time of a build goes into that otherwise.
  add_compile_options("SHELL:--param ggc-min-heapsize=524288" "SHELL:--param ggc-min-expand=100")
  # g++ 12 reports overlaps inside std::string that are not there (GCC bug 105651).
  add_compile_options(-Wno-restrict)
  # What -O2 concludes from inlining differs from one compiler to the next and is at times wrong. It is told in a release, and stops none.
  add_compile_options(
    "$<$<CONFIG:Release>:-Wno-error=array-bounds;-Wno-error=dangling-pointer;-Wno-error=free-nonheap-object;-Wno-error=maybe-uninitialized;-Wno-error=nonnull;-Wno-error=stringop-overflow;-Wno-error=stringop-overread;-Wno-error=use-after-free>")
  # Where several files are compiled at a time g++ takes them for headers, and warns of types without a name outside of them.
  if(HINDSIGHT_UNITY)
    add_compile_options(-Wno-subobject-linkage)
  endif()
endif()
if(CMAKE_GENERATOR STREQUAL "Ninja")
  add_compile_options(-fdiagnostics-color)
endif()

# Objects must not hold the path of the checkout: equal sources then give equal objects, and ccache hits in every checkout.
add_compile_options("-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.")

find_program(HINDSIGHT_CCACHE ccache)
if(HINDSIGHT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${HINDSIGHT_CCACHE}")
endif()

# Not mold, which would be a little faster: Debian 12's makes, of one program in some hundreds, one that the loader refuses ("cannot apply
# additional memory protection after relocation", rui314/mold#1151).
find_program(HINDSIGHT_LLD ld.lld)
if(HINDSIGHT_LLD)
  add_link_options(-fuse-ld=lld)
endif()

if(HINDSIGHT_SANITIZE)
  add_compile_options("-fsanitize=${HINDSIGHT_SANITIZE}" -fno-omit-frame-pointer)
  add_link_options("-fsanitize=${HINDSIGHT_SANITIZE}")
  if(HINDSIGHT_SANITIZE MATCHES "undefined")
    # A finding ends the test: a report that scrolls by helps nobody.
    add_compile_options(-fno-sanitize-recover=all)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # With g++ these four take half of the time that a sanitized build takes. Null pointers that are used end a test all the same, and the
      # fuzzers, which clang builds, run with all checks.
      add_compile_options(-fno-sanitize=null,alignment,object-size,pointer-overflow)
      set(HINDSIGHT_CHECKS_BY_CALLS --param asan-instrumentation-with-call-threshold=0)
      # What a test file itself does is looked at more coarsely than what it tests.
      set(HINDSIGHT_TEST_OPTIONS -fno-sanitize=vptr --param asan-instrumentation-with-call-threshold=0)
    endif()
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_BUILD_TYPE STREQUAL "Release")
  # Test files are most of such a build; to optimize the little that each of them does takes longer than to do it. Their line numbers take a
  # tenth of the time; a stack names the test all the same, and a failed expectation its line.
  list(APPEND HINDSIGHT_TEST_OPTIONS -O0 -g0)
  set(HINDSIGHT_OPTIMIZED_TEST_OPTIONS -O1 -Wno-array-bounds)
endif()
if(HINDSIGHT_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "HINDSIGHT_FUZZ=ON needs clang++ as CMAKE_CXX_COMPILER, found ${CMAKE_CXX_COMPILER_ID}")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Debian's own interpreter is the one that sees Debian's python3-yaml.
if(EXISTS /usr/bin/python3 AND NOT DEFINED Python3_EXECUTABLE)
  set(Python3_EXECUTABLE /usr/bin/python3)
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_package(Threads REQUIRED)
