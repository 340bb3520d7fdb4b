#pragma once

#include <string>
#include <vector>

#include "vocabulary/record.hpp"

namespace hindsight::runtime {

/// What a record means to somebody who watches, a line for each event that matters to them: "team-a/job-train-1a2b3  quota reserved in
/// team-a (cpu: on-demand), admitted". Observations of jobs that start, stop or finish are told too; most records have nothing to tell.
[[nodiscard]] std::vector<std::string> story_of(const RecordView& record);

}  // namespace hindsight::runtime
