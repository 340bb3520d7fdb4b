// libFuzzer: the first byte chooses the kind, the rest is the object. Built with HINDSIGHT_FUZZ=ON.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "connectors/objects/observe.hpp"
#include "connectors/objects/plan.hpp"
#include "connectors/objects/resource_types.hpp"
#include "tests/connectors/webhooks/random_objects.hpp"
#include "tests/support/fuzz_seeds.hpp"
#include "vocabulary/arena.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  return hindsight::test::write_seeds_if_asked(argc, argv, [] {
    using namespace hindsight::connectors;
    std::vector<std::string> out;
    webhooks::test::RandomObjects random(1);
    for (std::size_t i = 0; i < all_resource_types.size(); ++i)
      if (const auto* kind = manifests::find_kind(all_resource_types[i]->kind); kind != nullptr)
        for (int round = 0; round < 5; ++round) out.push_back(static_cast<char>(i) + random.object_of(*kind).dump());
    return out;
  });
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hindsight::connectors;
  if (size == 0) return 0;
  const auto& type = *all_resource_types[data[0] % all_resource_types.size()];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  hindsight::Arena arena;
  const auto seen = observe_text(type, text, arena);
  (void)observe_deleted_text(type, text, arena);
  if (!seen) return 0;
  const auto object = parse_object(text);
  if (!object) return 0;
  if (type.kind == "Workload") {
    hindsight::admission::WorkloadIntent intent;
    intent.has_admission = true;
    intent.release_finalizer = true;
    (void)plan_workload(intent, *object);
  } else if (type.kind == "Job" || type.kind == "JobSet") {
    hindsight::admission::JobIntent intent;
    intent.kind = type.kind;
    intent.group = type.group;
    intent.pod_sets = {{"main", 1, {{"a", "b"}}, {}, {}}};
    for (const bool run : {true, false}) {
      intent.run = run;
      (void)plan_job(intent, *object, Json::object());
    }
  }
  return 0;
}
