#pragma once

#include "connectors/manifests/json_views.hpp"

namespace hindsight::connectors::simulated {

using manifests::condition;
using manifests::condition_is;
using manifests::flag;
using manifests::Json;
using manifests::member;
using manifests::number;
using manifests::text;

}  // namespace hindsight::connectors::simulated
