#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "page/views/decision_views.hpp"
#include "tests/page/views/asking.hpp"

namespace hindsight::page::testing {

/// Somebody who looks at a log from one position and asks the views of decisions and records.
class DecisionAsking {
 public:
  using Words = Asking::Words;

  DecisionAsking(const events::Log& log, Position at, const Audience& audience) : log_(log), past_(log, "default"), audience_(audience) {
    if (auto ok = past_.go_to(at); !ok) throw std::runtime_error(ok.error().message);
  }

  void give_up() {
    is_over_ = [] { return true; };
  }
  [[nodiscard]] const admission::LoopDriver& state() const { return past_.driver(); }
  [[nodiscard]] Look look() const { return {log_, past_, audience_, is_over_, trunk_}; }
  /// What is looked at is a branch of this log.
  void is_branch_of(const events::Log& trunk) { trunk_ = &trunk; }

  [[nodiscard]] Result<Json> try_to(const std::string& route, const Words& query = {}, const Words& path = {}) const {
    for (const auto& known : decision_views()) {
      if (known.path != route) continue;
      const auto before = past_.position();
      const auto hash = past_.driver().state_hash();
      auto out = known.view(look(), Parameters(path, {query.begin(), query.end()}));
      EXPECT_EQ(past_.position(), before) << "a view leaves the state where it is";
      EXPECT_EQ(past_.driver().state_hash(), hash) << "and as it is";
      return out;
    }
    throw std::runtime_error("no route " + route);
  }
  [[nodiscard]] Json ask(const std::string& route, const Words& query = {}, const Words& path = {}) const {
    auto out = try_to(route, query, path);
    if (!out) throw std::runtime_error(route + ": " + out.error().message);
    return std::move(*out);
  }
  /// The message of an error of this kind; empty: there was none, or one of another kind.
  [[nodiscard]] std::string refused(ErrorKind kind, const std::string& route, const Words& query = {}, const Words& path = {}) const {
    const auto out = try_to(route, query, path);
    EXPECT_FALSE(out) << route;
    if (out) return {};
    EXPECT_EQ(static_cast<int>(out.error().kind), static_cast<int>(kind)) << out.error().message;
    return out.error().kind == kind ? out.error().message : std::string();
  }

 private:
  const events::Log& log_;
  replay::Past past_;
  const Audience& audience_;
  std::function<bool()> is_over_ = [] { return false; };
  const events::Log* trunk_ = nullptr;
};

}  // namespace hindsight::page::testing
