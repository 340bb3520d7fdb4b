#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "page/view.hpp"
#include "page/views/decision_views.hpp"
#include "page/views/indexed_hour.hpp"
#include "page/views/objects.hpp"
#include "page/views/state_views.hpp"

namespace hindsight::page {
namespace {

std::vector<ViewRoute> joined_views(std::vector<ViewRoute> first, std::vector<ViewRoute> more) {
  first.insert(first.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return first;
}

}  // namespace

std::vector<ViewRoute> views() { return joined_views(joined_views(state_views(), object_views()), decision_views()); }

std::vector<ViewRoute> views_with(HourSource hour) {
  return joined_views(joined_views(state_views(std::move(hour)), object_views()), decision_views());
}

}  // namespace hindsight::page
