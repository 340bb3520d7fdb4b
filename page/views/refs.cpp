#include "page/views/refs.hpp"

#include <nlohmann/json.hpp>

#include "admission/domain/domain.hpp"
#include "vocabulary/ascii.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::page {

Json taken_at(const Look& look) { return {{"position", look.position()}, {"time", format_rfc3339_micro(look.past.driver().now())}}; }

Json object_ref(const admission::WorkloadState& w) { return object_ref("Workload", w.namespace_.text(), w.name); }

void put_job_ref(Json& out, const admission::WorkloadParent& parent) {
  if (const auto& job = parent.job()) out["job"] = object_ref(job->kind.text(), job->namespace_.text(), job->name);
}

void put_time(Json& out, const char* key, Time time) {
  if (time.is_set()) out[key] = format_rfc3339_micro(time);
}

std::string page_address(std::initializer_list<std::string_view> parts) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const auto part : parts) {
    out += '/';
    for (const char c : part) {
      if (is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || c == '-' || c == '.' || c == '_' || c == '~') {
        out += c;
        continue;
      }
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += digits[byte >> 4U];
      out += digits[byte & 15U];
    }
  }
  return out;
}

tl::unexpected<Error> nobody_waits() {
  return fail(ErrorKind::unavailable, "the answer was given up: whoever asked is gone, or the time for it is over");
}

tl::unexpected<Error> not_for_you(std::string_view namespace_) {
  return fail(ErrorKind::denied, "objects of namespace " + printable(namespace_) + " are not for you to see");
}

tl::unexpected<Error> not_there(const Look& look, std::string_view kind, std::string_view name) {
  return fail(ErrorKind::not_found,
              std::string(kind) + " " + printable(name) + " is not there at position " + std::to_string(look.position()));
}

const admission::QueueConfig* find_cluster_queue(const admission::StateView& state, std::string_view name) {
  for (const auto& [queue, config] : state.domain().catalog()->queues)
    if (queue.text() == name) return config.get();
  return nullptr;
}

}  // namespace hindsight::page
