#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "page/view.hpp"
#include "page/views/state_views.hpp"

namespace hindsight::page::testing {

class SeesAll final : public Audience {
 public:
  [[nodiscard]] bool may_see(std::string_view) const override { return true; }
  [[nodiscard]] bool sees_all() const override { return true; }
};

class SeesOnly final : public Audience {
 public:
  explicit SeesOnly(std::set<std::string> namespaces) : namespaces_(std::move(namespaces)) {}
  [[nodiscard]] bool may_see(std::string_view namespace_) const override { return namespaces_.contains(std::string(namespace_)); }
  [[nodiscard]] bool sees_all() const override { return false; }

 private:
  std::set<std::string> namespaces_;
};

/// Somebody who looks at a log from one position, and asks the views of one state.
class Asking {
 public:
  using Words = std::map<std::string, std::string>;

  Asking(const events::Log& log, Position at, const Audience& audience) : log_(log), past_(log, "default"), audience_(audience) {
    if (auto ok = past_.go_to(at); !ok) throw std::runtime_error(ok.error().message);
  }

  [[nodiscard]] const admission::LoopDriver& state() const { return past_.driver(); }
  void go_to(Position at) {
    if (auto ok = past_.go_to(at); !ok) throw std::runtime_error(ok.error().message);
  }
  void give_up() {
    is_over_ = [] { return true; };
  }

  /// `route`: as it is registered.
  [[nodiscard]] Result<Json> try_to(const std::string& route, const Words& path = {}, const Words& query = {}) const {
    for (const auto& known : state_views()) {
      if (known.path != route) continue;
      for (const auto& [name, value] : query)
        if (std::find(known.parameters.begin(), known.parameters.end(), name) == known.parameters.end())
          throw std::runtime_error(route + " has no parameter " + name);
      const Position before = past_.position();
      auto out = known.view(Look{log_, past_, audience_, is_over_}, Parameters(path, {query.begin(), query.end()}));
      EXPECT_EQ(past_.position(), before) << "a view leaves the state where it is";
      return out;
    }
    throw std::runtime_error("no route " + route);
  }
  [[nodiscard]] Json ask(const std::string& route, const Words& path = {}, const Words& query = {}) const {
    auto out = try_to(route, path, query);
    if (!out) throw std::runtime_error(route + ": " + out.error().message);
    EXPECT_EQ((*out)["position"], past_.position()) << route;
    EXPECT_TRUE((*out)["time"].is_string()) << route;
    return std::move(*out);
  }

 private:
  const events::Log& log_;
  replay::Past past_;
  const Audience& audience_;
  std::function<bool()> is_over_ = [] { return false; };
};

}  // namespace hindsight::page::testing
