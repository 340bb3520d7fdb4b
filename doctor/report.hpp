#pragma once

#include <cstddef>
#include <string>

#include "doctor/examination.hpp"
#include "projections/json.hpp"

namespace hindsight::doctor {

/// "warning  rights         ServiceAccount …": one line with its end.
[[nodiscard]] std::string line_of(const Examined& examined, bool colour);

/// The findings, at most so many, worst first; each with what to do. And how many there are.
[[nodiscard]] std::string text_of_findings(const Examination& examination, std::size_t max, bool colour);

/// All of it as a document; at most so many findings.
[[nodiscard]] projections::Json document_of(const Examination& examination, std::size_t max);

}  // namespace hindsight::doctor
