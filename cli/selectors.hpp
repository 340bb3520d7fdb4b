#pragma once

#include <string>
#include <vector>

#include "cli/kinds.hpp"
#include "cli/output.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::cli {

// What -l and --field-selector choose by, in the forms that kubectl takes. Objects are those that `get -o json` prints.

/// "key=value,key!=value,key in (a,b),key notin (a,b),key,!key"; all have to hold.
class LabelSelector {
 public:
  /// Errors: invalid, with what was found and what is allowed.
  [[nodiscard]] static Result<LabelSelector> parse(const std::string& text);
  [[nodiscard]] bool matches(const Json& object) const;
  [[nodiscard]] bool empty() const { return requirements_.empty(); }

 private:
  struct Requirement {
    std::string key;
    bool wanted = true;               ///< False: != , notin, !key, which hold also where there is no such label.
    bool any_value = false;           ///< It is enough that the label is there.
    std::vector<std::string> values;  ///< One of them.
  };
  std::vector<Requirement> requirements_;
};

/// "metadata.name=a,spec.queueName!=b"; all have to hold.
class FieldSelector {
 public:
  /// Errors: invalid; a field that this kind cannot be chosen by is one, and the message names those that it can be.
  [[nodiscard]] static Result<FieldSelector> parse(const std::string& text, const KnownKind& kind);
  /// `phase`: stands for status.phase, which no object of the API has.
  [[nodiscard]] bool matches(const Json& object, const std::string& phase) const;
  [[nodiscard]] bool empty() const { return requirements_.empty(); }

 private:
  struct Requirement {
    std::string field, value, absent;
    bool equal = true;
  };
  std::vector<Requirement> requirements_;
};

/// The fields by which objects of a kind can be chosen.
[[nodiscard]] std::vector<std::string> selectable_fields(const KnownKind& kind);

}  // namespace hindsight::cli
