#pragma once

#include <string>
#include <vector>

#include "tests/explorer/users.hpp"

namespace hindsight::explorer {

/// Users of queues with concurrent admission (8691): administrators who change policies, explicit Options and flavors, check controllers
/// that answer late, and people who lay hands on Options and Parents.
class FamilyUsers final : public Users {
 public:
  using Users::Users;

  void set_up() override;
  [[nodiscard]] Text pick_settings() override;
  void act() override;
  bool let_run() override;
  bool end_stops() override;
  void make_everything_possible() override;
  [[nodiscard]] std::string unfinished() const override;

 private:
  [[nodiscard]] QuotaHolder random_family_queue(const std::string& name);
  [[nodiscard]] ConcurrentPolicy random_policy(const QuotaHolder& q);
  [[nodiscard]] ConcurrentPolicy::Option random_option(const QuotaHolder& q, std::size_t number);
  void create_family_job();
  void change_policy();
  void change_flavors(QuotaHolder& q);
  void change_options(QuotaHolder& q);
  void change_quota_of_flavor();
  void stop_or_resume();
  void judge_some_check();
  void lay_hands_on_members();
  void take_a_name();
  void switch_gate();
  void publish_settings(bool on);
  [[nodiscard]] bool judge_kindly();
  [[nodiscard]] std::vector<Workload*> members(bool parents, bool options);
  static void make_valid(QuotaHolder& q);

  std::vector<std::string> check_names_;
  std::size_t settings_ = 0;
  bool gate_on_ = true;
  bool kind_ = false;  ///< All checks are Ready sooner or later.
};

}  // namespace hindsight::explorer
