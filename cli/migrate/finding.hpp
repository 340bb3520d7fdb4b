#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hindsight::cli::migrate {

enum class Severity : std::uint8_t {
  blocks,   ///< Hindsight must not be started while this is so.
  differs,  ///< It works, and otherwise than under Kueue.
  note,     ///< Good to know; nothing that users see changes.
};
[[nodiscard]] std::string_view severity_name(Severity severity);

/// One thing that is looked for.
struct Rule {
  std::string_view id;  ///< "webhook-of-kueue"; never changes, scripts filter by it.
  Severity severity = Severity::note;
  std::string_view happens;  ///< What happens with Hindsight, a sentence.
  std::string_view remedy;   ///< What to do, a sentence; empty: nothing.
};

struct Finding {
  const Rule* rule = nullptr;
  std::string object;   ///< "Workload default/train".
  std::string field;    ///< "spec.podSets[0].count"; empty: the whole object.
  std::string found;    ///< In short.
  std::string happens;  ///< The rule's, or what is true of this object alone.
};

/// Gathers what rules find. Of one rule so many findings are told and the others counted, for a cluster has any number of objects.
class Findings {
 public:
  static constexpr std::size_t told_max = 100;
  static constexpr std::size_t found_bytes_max = 200;

  /// `happens` takes the place of the rule's text, where it is not empty.
  void add(const Rule& rule, std::string object, std::string field, std::string found, std::string happens = {});

  /// By severity, then in the order in which they were found.
  [[nodiscard]] std::vector<Finding> sorted() const;
  [[nodiscard]] std::size_t count(Severity severity) const;
  /// How many findings of each rule are not told.
  [[nodiscard]] const std::map<std::string_view, std::size_t>& left_out() const { return left_out_; }

 private:
  std::vector<Finding> findings_;
  std::map<std::string_view, std::size_t> told_, left_out_;
  std::map<Severity, std::size_t> counts_;
};

}  // namespace hindsight::cli::migrate
