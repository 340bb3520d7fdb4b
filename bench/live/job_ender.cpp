#include "bench/live/job_ender.hpp"

#include <string>
#include <utility>

#include "bench/live/job_objects.hpp"
#include "bench/live/objects.hpp"
#include "bench/live/plain_write.hpp"
#include "connectors/objects/resource_types.hpp"
#include "connectors/objects/write_parts.hpp"

namespace hindsight::bench {

void JobEnder::started(std::string_view name, std::string_view uid) {
  const connectors::Json job{{"metadata", {{"name", name}, {"namespace", load_namespace}, {"uid", uid}}}};
  cluster_.loop().after(runs_, [this, job] {
    auto write = connectors::merge_patch_of(connectors::types::job, job, "status", complete_status());
    write.field_manager = "job-controller";
    ++writes_;
    cluster_.submit(std::move(write), [this](const connectors::WriteAnswer& answer) {
      if (!succeeded(answer) && answer.http_status != 0)
        on_refusal_({ErrorKind::unavailable,
                     "the end of a Job: found HTTP " + std::to_string(answer.http_status) + "; allowed: 200; " + answer.body});
    });
  });
}

}  // namespace hindsight::bench
