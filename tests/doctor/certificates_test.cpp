// Certificates: when they end, for whom they are made out, and who is trusted. Issue 21, section 6: "certificates".

#include "doctor/checks/certificates.hpp"

#include "doctor/certificate.hpp"
#include "doctor/checks/webhooks.hpp"
#include "operations/self_signed.hpp"
#include "tests/doctor/fake_cluster.hpp"

namespace hindsight::doctor {
namespace {

using test::finding_with;
using test::text_of;

const Time made = Time::from_seconds(1'800'000'000);
const std::string service = "hindsight-webhook-service";
const std::string called = "hindsight-webhook-service.hindsight-system.svc";

operations::SelfSigned certificates_for(const std::string& name, Duration life = Duration::seconds(90 * 24 * 3600)) {
  return operations::keep_fresh({}, {.names = {name}, .lifetime = life}, made).value();
}

Time after_days(std::int64_t days) { return made + Duration::seconds(days * 24 * 3600); }

CertificatesFacts facts_of(const operations::SelfSigned& all, Time now) {
  CertificatesFacts facts;
  facts.now = now;
  SecretFacts secret{"hindsight-webhook-server-cert", "hindsight-system", service};
  secret.used = secret.there = true;
  secret.serving = all.serving.certificate;
  secret.authorities = all.authorities;
  facts.secrets.push_back(std::move(secret));
  return facts;
}

TEST(Certificates, OnesThatHoldAreWell) {
  const auto outcome = judge_certificates(facts_of(certificates_for(called), after_days(1)), {});
  test::expect_well(outcome);
  EXPECT_NE(outcome.summary.find("1 certificate, "), std::string::npos) << outcome.summary;
}

TEST(Certificates, OnesThatEndedOrWillSoon) {
  const auto all = certificates_for(called);
  const auto ended = finding_with(judge_certificates(facts_of(all, after_days(100)), {}), Severity::error, "tls.crt: it ended at");
  EXPECT_EQ(ended.object, "Secret hindsight-system/hindsight-webhook-server-cert");
  EXPECT_EQ(ended.command, "kubectl -n hindsight-system delete secret hindsight-webhook-server-cert");
  finding_with(judge_certificates(facts_of(all, after_days(88)), {}), Severity::warning, "and was not renewed");
  finding_with(judge_certificates(facts_of(all, after_days(-400)), {}), Severity::error, "tls.crt: it begins at");
  test::expect_well(judge_certificates(facts_of(all, after_days(60)), {}));
}

TEST(Certificates, ForSomebodyElse) {
  const auto finding =
      finding_with(judge_certificates(facts_of(certificates_for("other.svc"), after_days(1)), {}), Severity::error, "would refuse tls.crt");
  EXPECT_NE(finding.found.find("other.svc"), std::string::npos);
  EXPECT_NE(finding.allowed.find(called), std::string::npos);
  auto alone = facts_of(certificates_for("other.svc"), after_days(1));
  alone.secrets.front().authorities.clear();
  finding_with(judge_certificates(alone, {}), Severity::error, "made out to other.svc");
}

TEST(Certificates, OfAnotherAuthority) {
  auto facts = facts_of(certificates_for(called), after_days(1));
  facts.secrets.front().authorities = certificates_for(called).authorities;
  finding_with(judge_certificates(facts, {}), Severity::error, "would refuse tls.crt");
  facts.secrets.front().serving = "no certificate";
  finding_with(judge_certificates(facts, {}), Severity::error, "tls.crt: found no certificate");
}

TEST(Certificates, BundlesThatDoNotTakeThem) {
  const auto all = certificates_for(called), other = certificates_for(called);
  auto facts = facts_of(all, after_days(1));
  facts.bundles.push_back({"APIService v1beta2", all.authorities, "hindsight-webhook-server-cert", "delete apiservice v1beta2",
                           "patch apiservice v1beta2 --type=merge"});
  test::expect_well(judge_certificates(facts, {}));
  facts.bundles.front().authorities = other.authorities;
  const auto finding = finding_with(judge_certificates(facts, {}), Severity::error, "caBundle does not take the certificate");
  EXPECT_TRUE(finding.command.starts_with("kubectl patch apiservice v1beta2 --type=merge -p '{\"spec\":{\"caBundle\":")) << finding.command;
  facts.now = after_days(365 * 11);
  finding_with(judge_certificates(facts, {}), Severity::error, "caBundle: it ended at");
}

TEST(Certificates, NoneAreThere) {
  CertificatesFacts facts;
  facts.secrets.push_back({"s", "n", service});
  EXPECT_EQ(judge_certificates(facts, {}).standing, Standing::skipped);
  facts.secrets.front().used = true;
  finding_with(judge_certificates(facts, {}), Severity::note, "it is not there");
  facts.secrets.front().unreadable = "Forbidden";
  EXPECT_EQ(judge_certificates(facts, {}).standing, Standing::blind);
}

TEST(Certificates, AreComparedByWhatTheyAre) {
  const auto a = certificates_for(called), b = certificates_for(called);
  EXPECT_TRUE(same_authorities(a.authorities, "some words\n" + a.authorities + "\n\n"));
  EXPECT_FALSE(same_authorities(a.authorities, b.authorities));
  EXPECT_EQ(refusal_of_certificate(a.authorities, a.serving.certificate, called, after_days(1)), "");
  EXPECT_NE(refusal_of_certificate(b.authorities, a.serving.certificate, called, after_days(1)), "");
  EXPECT_NE(refusal_of_certificate("", a.serving.certificate, called, after_days(1)), "");
  EXPECT_NE(refusal_of_certificate(a.authorities, "", called, after_days(1)), "");
}

}  // namespace
}  // namespace hindsight::doctor
