#pragma once

#include <string>
#include <string_view>

namespace hindsight::doctor {

/// Writes the lines that a shell runs: with the cluster that was asked about, and this program as the user calls it.
class Commands {
 public:
  Commands() = default;
  /// `hindsight`: how this program is called, as a word of a shell; empty options: kubectl finds the cluster by itself.
  Commands(std::string hindsight, const std::string& kubeconfig, const std::string& context);

  /// "kubectl --kubeconfig F WORDS". The words are for a shell already.
  [[nodiscard]] std::string kubectl(std::string_view words) const;
  /// "hindsight WORDS".
  [[nodiscard]] std::string hindsight(std::string_view words) const;
  /// "hindsight doctor --print MANIFEST | kubectl VERB -f -".
  [[nodiscard]] std::string print_to(std::string_view manifest, std::string_view verb) const;
  /// A JSON text to `kubectl apply`.
  [[nodiscard]] std::string apply_text(const std::string& json) const;

 private:
  std::string hindsight_ = "hindsight", kubectl_ = "kubectl";
};

/// The text as one word of a shell.
[[nodiscard]] std::string as_word(std::string_view text);
/// "-n NAMESPACE".
[[nodiscard]] std::string in_namespace(std::string_view namespace_);

}  // namespace hindsight::doctor
