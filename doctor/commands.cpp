#include "doctor/commands.hpp"

#include <utility>

#include "runtime/call_name.hpp"

namespace hindsight::doctor {

Commands::Commands(std::string hindsight, const std::string& kubeconfig, const std::string& context) : hindsight_(std::move(hindsight)) {
  if (!kubeconfig.empty()) kubectl_ += " --kubeconfig " + as_word(kubeconfig);
  if (!context.empty()) kubectl_ += " --context " + as_word(context);
}

std::string Commands::kubectl(std::string_view words) const { return kubectl_ + " " + std::string(words); }

std::string Commands::hindsight(std::string_view words) const { return hindsight_ + " " + std::string(words); }

std::string Commands::print_to(std::string_view manifest, std::string_view verb) const {
  return hindsight("doctor --print " + as_word(manifest)) + " | " + kubectl(std::string(verb) + " -f -");
}

std::string Commands::apply_text(const std::string& json) const { return "echo " + as_word(json) + " | " + kubectl("apply -f -"); }

std::string as_word(std::string_view text) { return runtime::shell_word(text); }

std::string in_namespace(std::string_view namespace_) { return "-n " + as_word(namespace_); }

}  // namespace hindsight::doctor
