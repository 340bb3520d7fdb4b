#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "operations/http.hpp"

namespace hindsight::page {

/// A file of the page as the build puts it into the program (scripts/embed_page.py).
struct EmbeddedFile {
  std::string_view path;  ///< Below the root of the page: "index.html", "assets/main-3f2a91bc.js".
  std::string_view type;  ///< Content type.
  std::string_view etag;  ///< In quotes.
  std::string_view bytes;
  bool gzip = false;       ///< That is how the bytes are.
  bool immutable = false;  ///< Its name changes with what is in it.
};

/// Those that the build made of web/; of the library hindsight::page_files, which the program has beside this one.
[[nodiscard]] std::span<const EmbeddedFile> embedded_files();

/// What every answer of the page tells browsers: nothing is loaded from elsewhere, run that is not one of these files, or shown in
/// somebody else's frame.
void add_safety_headers(operations::HttpResponse& response);

/// GET of / (index.html) and of every file by its path; the addresses that the page itself makes are behind a '#'. `files` must outlive the
/// routes.
void add_static_routes(operations::HttpRoutes& routes, std::span<const EmbeddedFile> files);

}  // namespace hindsight::page
