# The few functions with which each folder describes itself. DEPS take targets: hindsight::vocabulary, CAF::core, spdlog::spdlog.

# hindsight_library(<folder> [COLD] [DEPS <target>...] [PRIVATE_DEPS <target>...])
#
# Makes the static library hindsight_<folder> (alias hindsight::<folder>) of every <folder>/**/*.cpp, or a header-only library when there
# is none. main.cpp is left out, so that tests can link what an executable is made of. <folder> is relative to the repository root. COLD: it
# does something for each command or request, and not for each record, so that it is optimized less in a release, and checked by calls instead
# of code in place in a sanitized build: both save a quarter of the time of its build.
function(hindsight_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "COLD" "" "DEPS;PRIVATE_DEPS")
  hindsight_refuse_unparsed("hindsight_library(${folder})" "${arg_UNPARSED_ARGUMENTS}")
  string(REPLACE "/" "_" name "${folder}")
  set(target "hindsight_${name}")

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  if(sources)
    add_library(${target} STATIC ${sources})
    target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}")
    target_link_libraries(${target} PUBLIC ${arg_DEPS} PRIVATE ${arg_PRIVATE_DEPS})
    if(arg_COLD)
      # What its headers hold is more than what it does.
      hindsight_join_files(${target} 32)
      target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og> ${HINDSIGHT_CHECKS_BY_CALLS})
    else()
      hindsight_join_files(${target} 16)
    endif()
    set_property(GLOBAL APPEND PROPERTY hindsight_static_libraries ${target})
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE "${PROJECT_SOURCE_DIR}")
    target_link_libraries(${target} INTERFACE ${arg_DEPS} ${arg_PRIVATE_DEPS})
  endif()
  add_library(hindsight::${name} ALIAS ${target})
endfunction()

# hindsight_executable(<name> SOURCES <file>... [DEPS <target>...])
#
# Makes the executable <name> at the top of the build folder.
function(hindsight_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  hindsight_refuse_unparsed("hindsight_executable(${name})" "${arg_UNPARSED_ARGUMENTS}")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${arg_DEPS})
  hindsight_use_allocator(${name})
endfunction()

# hindsight_test(<name> SOURCES <file>... [DEPS <target>...] [LABELS <label>...] [TIMEOUT <seconds>] [SHARDS <n>] [OWN_MAIN] [PLAIN] [UNSANITIZED] [OPTIMIZED] [SIMULATED])
#
# Makes the GoogleTest executable tests/test_<name> and registers it with ctest as <name>: one entry for the whole executable, because a
# process for each test case costs more than most cases do. The cases are counted from the report that each entry leaves in
# test-results/. SHARDS cuts a long executable into n entries that run side by side. OWN_MAIN: the sources define main(). PLAIN: runs
# without sanitizers even where the same run has it under AddressSanitizer, because it is too slow there to do all that it does;
# with the allocator of the executables.
# UNSANITIZED: runs without sanitizers only, because it measures or limits memory, which they need themselves. OPTIMIZED: what the test does
# itself takes long, so it is optimized where other tests are not. SIMULATED: it plays long histories in one thread, and the search for uses of a
# stack frame after its function returned, a third of the time, is left to the shorter tests of the same code; of each piece of memory only
# one caller is remembered.
#
# Labels that ./dev test knows: actors (also run under ThreadSanitizer), e2e (needs a real API server or broker; not run under
# sanitizers), slow (only with --full).
function(hindsight_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OWN_MAIN;PLAIN;UNSANITIZED;OPTIMIZED;SIMULATED" "TIMEOUT;SHARDS" "SOURCES;DEPS;LABELS")
  hindsight_refuse_unparsed("hindsight_test(${name})" "${arg_UNPARSED_ARGUMENTS}")
  find_package(GTest REQUIRED)

  set(target "test_${name}")
  hindsight_joined_tests(sources ${target} ${arg_SOURCES})
  add_executable(${target} ${sources})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE ${arg_DEPS} GTest::gtest)
  target_compile_options(${target} PRIVATE ${HINDSIGHT_TEST_OPTIONS})
  if(arg_OPTIMIZED OR (arg_PLAIN AND NOT HINDSIGHT_SANITIZE))
    target_compile_options(${target} PRIVATE ${HINDSIGHT_OPTIMIZED_TEST_OPTIONS})
  else()
    hindsight_read_headers_once(${target})
  endif()
  if(NOT arg_OWN_MAIN)
    target_link_libraries(${target} PRIVATE GTest::gtest_main)
  endif()
  if(arg_PLAIN)
    hindsight_use_allocator(${target})
  endif()

  if(arg_UNSANITIZED AND HINDSIGHT_SANITIZE)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()

  hindsight_default(arg_TIMEOUT 300)
  hindsight_default(arg_SHARDS 1)
  set(labels "${arg_LABELS};gtest")
  if(name IN_LIST HINDSIGHT_RULES_TESTS)
    list(APPEND labels rules)
  elseif(NOT arg_PLAIN AND NOT arg_UNSANITIZED AND NOT "e2e" IN_LIST arg_LABELS)
    list(APPEND labels sanitized)  # where suite asan runs too, suite unit leaves it out
  endif()
  if(name IN_LIST HINDSIGHT_QUICK_TESTS)
    list(APPEND labels quick)
  endif()
  math(EXPR last_shard "${arg_SHARDS} - 1")
  foreach(shard RANGE ${last_shard})
    set(entry "${name}")
    set(environment "")
    if(arg_SIMULATED)
      set(environment "ASAN_OPTIONS=${HINDSIGHT_ASAN_OPTIONS}:detect_stack_use_after_return=0:malloc_context_size=1")
    endif()
    if(arg_SHARDS GREATER 1)
      set(entry "${name}.${shard}")
      list(APPEND environment "GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${shard}")
    endif()
    add_test(NAME ${entry}
      COMMAND ${target} "--gtest_output=json:${PROJECT_BINARY_DIR}/test-results/${entry}.json" --gtest_brief=1
      WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    hindsight_set_test_properties(${entry} "${labels}" "${arg_TIMEOUT}" "${environment}")
  endforeach()
  hindsight_group_by_label(${target} "${labels}")
endfunction()

# hindsight_check(<name> COMMAND <word>... [LABELS <label>...] [TIMEOUT <seconds>] [DEPENDS <target>...] [ENVIRONMENT <K=V>...])
#
# Registers a script with ctest. It runs in the repository root with HINDSIGHT_BUILD_DIR set. A script that prints a line
# "N passed, N failed" is counted so; any other counts as one. DEPENDS: targets that must be built before.
function(hindsight_check name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "COMMAND;LABELS;DEPENDS;ENVIRONMENT")
  hindsight_refuse_unparsed("hindsight_check(${name})" "${arg_UNPARSED_ARGUMENTS}")
  add_test(NAME ${name} COMMAND ${arg_COMMAND} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  hindsight_default(arg_TIMEOUT 300)
  hindsight_set_test_properties(${name} "${arg_LABELS};script" "${arg_TIMEOUT}" "${arg_ENVIRONMENT}")
  if(arg_DEPENDS)
    add_dependencies(hindsight_tests ${arg_DEPENDS})
    if("e2e" IN_LIST arg_LABELS)
      add_dependencies(hindsight_tests_e2e ${arg_DEPENDS})
    else()
      add_dependencies(hindsight_tests_plain ${arg_DEPENDS})
    endif()
  endif()
endfunction()

# hindsight_bench(<name> SOURCES <file>... [DEPS <target>...])
#
# Makes the Google Benchmark executable bench/bench_<name>; ./dev bench runs each of them.
function(hindsight_bench name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  hindsight_refuse_unparsed("hindsight_bench(${name})" "${arg_UNPARSED_ARGUMENTS}")
  find_package(benchmark REQUIRED)
  set(target "bench_${name}")
  add_executable(${target} ${arg_SOURCES})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bench")
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE ${arg_DEPS} benchmark::benchmark)
  hindsight_use_allocator(${target})
  add_dependencies(hindsight_benches ${target})
endfunction()

# hindsight_fuzz(<name> SOURCES <file>... [DEPS <target>...])
#
# With HINDSIGHT_FUZZ=ON makes the libFuzzer executable fuzz/fuzz_<name>; does nothing otherwise.
function(hindsight_fuzz name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  hindsight_refuse_unparsed("hindsight_fuzz(${name})" "${arg_UNPARSED_ARGUMENTS}")
  if(NOT HINDSIGHT_FUZZ)
    return()
  endif()
  set(target "fuzz_${name}")
  add_executable(${target} ${arg_SOURCES})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE ${arg_DEPS})
  target_link_options(${target} PRIVATE -fsanitize=fuzzer)
endfunction()

# ---------------------------------------------------------------- used by the functions above

# What ./dev test builds: all test executables; those that no sanitizer's suite runs; those of the end-to-end tests; those that run under
# AddressSanitizer; those that run under ThreadSanitizer; those of `./dev test --quick`.
add_custom_target(hindsight_tests)
add_custom_target(hindsight_tests_plain)
add_custom_target(hindsight_tests_e2e)
add_custom_target(hindsight_tests_asan)
add_custom_target(hindsight_tests_asan_full)
add_custom_target(hindsight_tests_tsan)
add_custom_target(hindsight_tests_quick)
add_custom_target(hindsight_benches)

# mimalloc takes the place of malloc in what users run: entities are many small pieces that several threads make and free, where glibc's
# allocator costs a third of the time of a decision. Sanitizers bring their own.
function(hindsight_use_allocator target)
  if(NOT HINDSIGHT_SANITIZE)
    find_package(mimalloc CONFIG REQUIRED)
    target_link_libraries(${target} PRIVATE mimalloc)
  endif()
endfunction()

# Where HINDSIGHT_UNITY says so, the files of a target are compiled sixteen at a time.
function(hindsight_join_files target files)
  if(HINDSIGHT_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
  endif()
endfunction()

# Where HINDSIGHT_UNITY says so, sets <result> to files that each have up to sixteen of <source>...; else to these themselves. CMake's own way
# of joining is not for tests: their helpers have the same short names.
function(hindsight_joined_tests result target)
  if(NOT HINDSIGHT_UNITY)
    set(${result} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(script "${PROJECT_SOURCE_DIR}/scripts/join_tests.py")
  set(paths "")
  foreach(source IN LISTS ARGN)
    get_filename_component(path "${source}" ABSOLUTE)
    file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}" "${path}")
    list(APPEND paths "${path}")
  endforeach()
  # As many in each as can be: of seventeen files nine and eight, not sixteen and one.
  list(LENGTH paths count)
  math(EXPR batches "(${count} + 15) / 16")
  math(EXPR size "(${count} + ${batches} - 1) / ${batches}")
  set(joined "")
  set(first 0)
  while(first LESS count)
    list(SUBLIST paths ${first} ${size} batch)
    set(output "${CMAKE_CURRENT_BINARY_DIR}/${target}_${first}.cpp")
    set(depends "${batch}")
    list(TRANSFORM depends PREPEND "${PROJECT_SOURCE_DIR}/")
    add_custom_command(OUTPUT "${output}" COMMAND "${Python3_EXECUTABLE}" "${script}" "${output}" ${batch}
      WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" DEPENDS ${depends} "${script}" VERBATIM COMMENT "Joining files of ${target}")
    list(APPEND joined "${output}")
    math(EXPR first "${first} + ${size}")
  endwhile()
  set(${result} ${joined} PARENT_SCOPE)
endfunction()

# Where HINDSIGHT_UNITY says so, what nearly every test includes is read once for all.
function(hindsight_read_headers_once target)
  if(NOT HINDSIGHT_UNITY)
    return()
  endif()
  if(NOT TARGET hindsight_test_headers)
    file(WRITE "${PROJECT_BINARY_DIR}/test_headers.cpp.new" "// Has the headers that tests share.\n")
    file(COPY_FILE "${PROJECT_BINARY_DIR}/test_headers.cpp.new" "${PROJECT_BINARY_DIR}/test_headers.cpp" ONLY_IF_DIFFERENT)
    add_library(hindsight_test_headers OBJECT "${PROJECT_BINARY_DIR}/test_headers.cpp")
    target_link_libraries(hindsight_test_headers PRIVATE GTest::gtest)
    target_compile_options(hindsight_test_headers PRIVATE ${HINDSIGHT_TEST_OPTIONS})
    target_precompile_headers(hindsight_test_headers PRIVATE <gtest/gtest.h> <nlohmann/json.hpp> <tl/expected.hpp> <algorithm> <array>
      <atomic> <chrono> <condition_variable> <cstddef> <cstdint> <deque> <filesystem> <fstream> <functional> <map> <memory> <mutex>
      <optional> <random> <ranges> <set> <span> <sstream> <string> <string_view> <thread> <unordered_map> <unordered_set> <utility>
      <variant> <vector>)
  endif()
  target_precompile_headers(${target} REUSE_FROM hindsight_test_headers)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # In large files g++ 12 finds overruns in strings that are not there. Where files are compiled one by one both warnings are on.
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow)
  endif()
endfunction()

# hindsight_link_check()
#
# Makes an executable of all of each library and of what it names as its dependencies, nothing else: a name that a library uses and
# neither it nor these define is an error, even if every program happens to link what is missing. Part of hindsight_tests_plain.
function(hindsight_link_check)
  get_property(libraries GLOBAL PROPERTY hindsight_static_libraries)
  set(main "${PROJECT_BINARY_DIR}/link_check.cpp")
  file(CONFIGURE OUTPUT "${main}" CONTENT "int main() { return 0; }\n")
  add_library(link_check_main OBJECT EXCLUDE_FROM_ALL "${main}")
  add_custom_target(link_check)
  foreach(library IN LISTS libraries)
    set(target "link_check_${library}")
    add_executable(${target} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:link_check_main>)
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/link_checks" LINKER_LANGUAGE CXX)
    target_link_options(${target} PRIVATE -s)
    target_link_libraries(${target} PRIVATE -Wl,--whole-archive "$<TARGET_FILE:${library}>" -Wl,--no-whole-archive ${library})
    add_dependencies(link_check ${target})
  endforeach()
  add_dependencies(hindsight_tests_plain link_check)
endfunction()

function(hindsight_group_by_label target labels)
  add_dependencies(hindsight_tests ${target})
  if("quick" IN_LIST labels)
    add_dependencies(hindsight_tests_quick ${target})
  endif()
  if("e2e" IN_LIST labels)
    add_dependencies(hindsight_tests_e2e ${target})
  else()
    add_dependencies(hindsight_tests_asan_full ${target})
    if(NOT "rules" IN_LIST labels)
      add_dependencies(hindsight_tests_asan ${target})
    endif()
    if(NOT "sanitized" IN_LIST labels)
      add_dependencies(hindsight_tests_plain ${target})
    endif()
  endif()
  if("actors" IN_LIST labels AND NOT "e2e" IN_LIST labels)
    add_dependencies(hindsight_tests_tsan ${target})
  endif()
endfunction()

# Six frames name the place of an allocation; thirty, the default, take a tenth of the time of what allocates much.
set(HINDSIGHT_ASAN_OPTIONS "strict_string_checks=1:malloc_context_size=6")

# ASAN_OPTIONS among the variables of `environment` replaces what is set here.
function(hindsight_set_test_properties entry labels timeout environment)
  if(NOT environment MATCHES "ASAN_OPTIONS=")
    list(APPEND environment "ASAN_OPTIONS=${HINDSIGHT_ASAN_OPTIONS}:detect_stack_use_after_return=1")
  endif()
  list(APPEND environment
    "HINDSIGHT_BUILD_DIR=${PROJECT_BINARY_DIR}"
    "UBSAN_OPTIONS=print_stacktrace=1"
    "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1")
  # Where no earlier run tells how long each takes, those that may take longest begin first, so that none of them is left alone at the end.
  set_tests_properties(${entry} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout} COST ${timeout} ENVIRONMENT "${environment}")
endfunction()

macro(hindsight_default variable value)
  if(NOT DEFINED ${variable})
    set(${variable} "${value}")
  endif()
endmacro()

function(hindsight_refuse_unparsed where unparsed)
  if(unparsed)
    message(FATAL_ERROR "${where}: unknown arguments: ${unparsed}")
  endif()
endfunction()
