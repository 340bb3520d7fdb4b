#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "admission/workload/workload_parent.hpp"
#include "page/view.hpp"
#include "page/views/record_lines.hpp"

namespace hindsight::page {

// What many answers have in common (web/src/api/types.ts).

/// Place: {"position", "time"} of the record that a look stands at. Every answer about a moment begins with it.
[[nodiscard]] Json taken_at(const Look& look);
/// ObjectRef of a Workload.
[[nodiscard]] Json object_ref(const admission::WorkloadState& w);
/// Puts "job" into `out`: the job that a Workload belongs to, if it has one.
void put_job_ref(Json& out, const admission::WorkloadParent& parent);
/// Puts a time as RFC 3339 in microseconds; one that is not known is left out.
void put_time(Json& out, const char* key, Time time);
/// How a page's address names a view below "#": "/workload/team-a/job-train", each part percent-encoded.
[[nodiscard]] std::string page_address(std::initializer_list<std::string_view> parts);
/// An answer that nobody waits for any more: unavailable.
[[nodiscard]] tl::unexpected<Error> nobody_waits();
/// The audience may not see objects of this namespace: denied.
[[nodiscard]] tl::unexpected<Error> not_for_you(std::string_view namespace_);
/// There is no such object at the position of the look: not_found. `kind`: "ClusterQueue".
[[nodiscard]] tl::unexpected<Error> not_there(const Look& look, std::string_view kind, std::string_view name);

/// The ClusterQueue of this name, or null. Names come from anybody who asks, so they are not interned.
[[nodiscard]] const admission::QueueConfig* find_cluster_queue(const admission::StateView& state, std::string_view name);

}  // namespace hindsight::page
