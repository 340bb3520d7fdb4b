#include "page/server/static_files.hpp"

#include <algorithm>
#include <string>

#include "vocabulary/printable.hpp"
#include "vocabulary/text.hpp"

namespace hindsight::page {
namespace {

using operations::HttpRequest;
using operations::HttpResponse;

constexpr const char* policy =
    "default-src 'self'; style-src 'self'; script-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";
constexpr std::size_t repeated_of_path = 80;

HttpResponse text_answer(int status, std::string text) {
  HttpResponse out{.status = status, .content_type = "text/plain; charset=utf-8", .body = std::move(text)};
  add_safety_headers(out);
  return out;
}

HttpResponse show(const HttpRequest& request, const EmbeddedFile& file) {
  HttpResponse out{.content_type = std::string(file.type)};
  out.headers = {{"ETag", std::string(file.etag)}, {"Cache-Control", file.immutable ? "public, max-age=31536000, immutable" : "no-cache"}};
  add_safety_headers(out);
  if (request.header("if-none-match") == file.etag) {
    out.status = 304;
    return out;
  }
  if (file.gzip) {
    if (request.header("accept-encoding").find("gzip") == std::string_view::npos)
      return text_answer(406, "this file is kept compressed; allowed: to ask with Accept-Encoding: gzip, as every browser does\n");
    out.headers.emplace_back("Content-Encoding", "gzip");
    out.headers.emplace_back("Vary", "Accept-Encoding");
  }
  out.body = file.bytes;
  return out;
}

HttpResponse file_of(const HttpRequest& request, std::span<const EmbeddedFile> files, std::string_view path) {
  const auto file = std::find_if(files.begin(), files.end(), [&](const EmbeddedFile& one) { return one.path == path; });
  if (file != files.end()) return show(request, *file);
  return text_answer(404, "no file of the page is called " + printable(cut_text(path, repeated_of_path)) +
                              "; if the page was open while hindsight was replaced, load it anew\n");
}

}  // namespace

void add_safety_headers(HttpResponse& response) {
  response.headers.emplace_back("Content-Security-Policy", policy);
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  response.headers.emplace_back("X-Frame-Options", "DENY");
  response.headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
  response.headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
}

void add_static_routes(operations::HttpRoutes& routes, std::span<const EmbeddedFile> files) {
  routes.add("GET", "/", [files](const HttpRequest& q) { return file_of(q, files, "index.html"); });
  routes.add("GET", "/*", [files](const HttpRequest& q) { return file_of(q, files, q.rest); });
}

}  // namespace hindsight::page
