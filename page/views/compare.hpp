#pragma once

#include "page/view.hpp"

namespace hindsight::page {

// What differs between two states, by object, the biggest effect first. The effect of a difference is a number from 0 to 1000:
//
//   900  it is admitted in one and not in the other
//   800  it has finished in one and not in the other
//   750  a ClusterQueue can admit in one and not in the other
//   700  configuration: the spec of a queue, cohort or flavor, the controller's settings; or the object is there in one only
//   650  it holds quota in one and not in the other
//   600  any other phase
//   500  a Workload that waits, or is inactive, is there in one only
//   450  it is admitted in both, elsewhere or in another size
//   400  it waits in both, for another reason
//   200  anything else about a Workload
//   150  a job, of which its Workload tells more
//   100  counters and use of a queue

/// GET compare?a=&b=&limit= : two positions of the log that is looked at. `a`: without it, the one that is looked from; `b`: without it,
/// the end of the log. Of a look at a branch `a` is a position of the log that it is a branch of (without it, the end of that), and `b` one
/// of the branch. One of them is best the position that is looked from: any other takes a fold. Objects of namespaces that the
/// audience may not see are counted (`hidden`), and those beyond `limit` too (`leftOut`). Errors: invalid, unavailable (it takes too long),
/// those of a fold.
[[nodiscard]] Result<Json> compare_view(const Look& look, const Parameters& parameters);

/// The same of two looks, which may be of two logs: what was, and a branch of it.
[[nodiscard]] Result<Json> compare_looks(const Look& a, const Look& b, const Parameters& parameters);

}  // namespace hindsight::page
