// The chain of hashes is what docs/log-format.md says, for ever: the values here were computed by another program from that page.

#include "evidence/chain.hpp"

#include <gtest/gtest.h>

#include "tests/evidence/made_evidence.hpp"

namespace hindsight::evidence {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(EvidenceChain, IsTheOneThatTheFormatDescribes) {
  EXPECT_EQ(hex(genesis().hash), "ccfa007140b1bf3dc9d3c2d48a47e1e90bc4174d35911b889318c6213d7b51ce");
  EXPECT_EQ(hex(genesis(41).hash), "1f102e7eb306e43105435148fecf96350bce3c6e67191ede34044a270056fbcb");
  const Content first{"default", 1, 1, Time{1'767'225'600'000'000}, bytes_of("first")};
  const Content second{"other", 0, 0, Time::never(), {}};
  Chain chain;
  EXPECT_EQ(hex(chain.content(first)), "0ebec8afb186bbbbb3b717b5b2843940f0c30acc54924f5ea09732888a8b4763");
  EXPECT_EQ(hex(chain.content(second)), "94a4290f03ea5ec6151f769efa06352f7bd05d72fbc1ee5cfa7c65764227fe75");
  chain.add(first);
  chain.add(second);
  EXPECT_EQ(hex(chain.head().hash), "ffc612a3df6be73457e3932acdfc9158a52b7215f019287bc49342f6d3d1f911");
  EXPECT_EQ(chain.head().records, 2U);
  EXPECT_EQ(chain.head().begin, 0U);
}

TEST(EvidenceChain, CanBeComputedFromHashesOfRecordsAlone) {
  const test::MadeLog log(nullptr);
  Chain chain(log.heads[3]);
  for (std::uint64_t n = 4; n <= 20; ++n) chain.add(chain.content(log.made[n - 1].content()));
  EXPECT_EQ(chain.head(), log.heads[20]);
}

/// Bytes cannot move from one field to another, and no field can change, without another hash.
TEST(EvidenceChain, EachFieldCounts) {
  Chain chain;
  const Content base{"ab", 1, 2, Time{3}, bytes_of("cd")};
  const auto hash = [&](Content c) { return hex(chain.content(c)); };
  std::vector<Content> others(7, base);
  others[0].domain = "a";
  others[1].sequence = 2;
  others[2].epoch = 1;
  others[3].time = Time{4};
  others[4].bytes = bytes_of("c");
  others[5].bytes = bytes_of("cde");
  others[6].domain = "abc";
  others[6].bytes = bytes_of("d");
  std::vector<std::string> seen{hash(base)};
  for (const auto& other : others) {
    EXPECT_EQ(std::count(seen.begin(), seen.end(), hash(other)), 0);
    seen.push_back(hash(other));
  }
  EXPECT_EQ(hash(base), seen.front());
}

TEST(EvidenceChain, DigestsAreReadInOneForm) {
  const auto text = hex(genesis().hash);
  EXPECT_EQ(parse_digest(text), genesis().hash);
  std::string capital = text;
  capital[0] = 'C';
  for (const std::string& bad : {std::string(), text.substr(1), text + "0", capital, std::string(64, 'g')})
    EXPECT_FALSE(parse_digest(bad)) << bad;
}

}  // namespace
}  // namespace hindsight::evidence
