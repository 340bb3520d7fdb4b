// Names of Options (8691 §2.7).

#include "admission/model/option_name.hpp"

#include <gtest/gtest.h>

namespace hindsight::admission {
namespace {

const std::string job_name = "job-my-job-12345";
const std::string uid = "uid-123";

// CA-6: the vectors of the specification
TEST(OptionName, IsThatOfTheSpecification) {
  EXPECT_EQ(option_name(job_name, uid, "spot", 63, false), "job-my-job-12345-option-spot");
  EXPECT_EQ(option_name(job_name, uid, "spot", 63, true), "job-my-job-12345-option-spot-3bae0");
  const auto long_workload = option_name("job-" + std::string(50, 'a') + "-12345", uid, "on-demand", 63, false);
  EXPECT_EQ(long_workload, "job-" + std::string(36, 'a') + "-option-on-demand-5439f");
  EXPECT_EQ(long_workload.size(), 63U);
  const auto long_option = option_name(job_name, uid, std::string(80, 'f'), 63, false);
  EXPECT_EQ(long_option, "job-my-job-12345-option-" + std::string(33, 'f') + "-5cb88");
  EXPECT_EQ(long_option.size(), 63U);
}

// CA-6
TEST(OptionName, IsCutOnlyWhereItIsTooLong) {
  const std::string workload(240, 'w');
  EXPECT_EQ(option_name(workload, uid, "spot1", option_name_limit, false), workload + "-option-spot1");
  const auto cut = option_name(workload, uid, "spot12", option_name_limit, false);
  EXPECT_EQ(cut.size(), option_name_limit);
  EXPECT_TRUE(cut.starts_with(std::string(233, 'w') + "-option-spot12-")) << cut;
  EXPECT_EQ(option_name(workload, uid, "spot12", option_name_limit, true), cut) << "there is one such name only";
  EXPECT_LE(option_name(workload, uid, std::string(253, 'f'), short_option_name_limit, false).size(), short_option_name_limit);
}

// CA-6: what is cut ends in a letter or digit, and what differs only behind the cut has another hash
TEST(OptionName, LeavesNoDotOrDashBeforeWhatFollows) {
  const std::string option = "f-.-" + std::string(60, 'g');
  const std::string workload = std::string(24, 'w') + "-.-.-" + std::string(40, 'w');
  const auto name = option_name(workload, uid, option, 63, false);
  EXPECT_TRUE(name.starts_with(std::string(24, 'w') + "-option-f-.-" + std::string(20, 'g') + "-")) << name;
  EXPECT_NE(name, option_name(workload, uid, option + "h", 63, false));
  EXPECT_NE(name, option_name(workload + "v", uid, option, 63, false));
  EXPECT_NE(name, option_name(workload, uid + "4", option, 63, false));
}

// CA-6: SHA-1 around the ends of its blocks, as sha1sum says
TEST(OptionName, HashesTextsOfAnyLength) {
  struct Case {
    std::size_t uid_size;
    const char* hash;
  };
  for (const auto& c : {Case{0, "ebed1"}, Case{27, "bf8b8"}, Case{28, "d565c"}, Case{35, "fdd4f"}, Case{36, "35fca"}, Case{37, "de330"},
                        Case{91, "97dff"}, Case{92, "785d9"}, Case{100, "5fd17"}}) {
    EXPECT_EQ(option_name("w", std::string(c.uid_size, 'u'), "o", 63, true), std::string("w-option-o-") + c.hash) << c.uid_size;
  }
}

}  // namespace
}  // namespace hindsight::admission
