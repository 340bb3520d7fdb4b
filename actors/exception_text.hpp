#pragma once

#include <exception>
#include <string>

namespace hindsight::actors {

/// What an exception says.
[[nodiscard]] inline std::string text_of(const std::exception_ptr& e) {
  try {
    std::rethrow_exception(e);
  } catch (const std::exception& x) {
    return x.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace hindsight::actors
