#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <string>

namespace hindsight::testing {

/// The files of tests/replay/logs, for tests that go over each (KeptLogAgainFiles, AreAllThereAre, finds one that is missing here).
inline auto kept_logs() {
  return ::testing::Values("2026-11-elastic.db", "2026-11-fair-sharing.db", "2026-11-gates-and-sizes.db", "2026-11-life-cycle.db",
                           "2026-11-quickstart.db", "2026-11-topology.db");
}

/// Such a file as the end of a test's name.
inline std::string test_name_of(const ::testing::TestParamInfo<const char*>& test) {
  std::string name = test.param;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

}  // namespace hindsight::testing
