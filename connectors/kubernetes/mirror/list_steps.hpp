#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "connectors/kubernetes/http/http_client.hpp"

namespace hindsight::connectors::kubernetes {

/// How a list is read in pages when the server is slow, busy, or far away: how many objects each page asks for, and what is done when one
/// fails. No clock, no I/O.
///
/// - A page that could not be had is asked for again with its token; what was read before it is not read again, however often that happens
///   to each page. Only after `tries_of_page_max` in a row the list begins anew; answers that ask for a pause (429) do not count.
/// - A page that is too large, or takes too long, is asked for in half the size.
/// - A token that has expired (410) means that the list as a whole took longer than the server remembers (5 minutes). It begins anew in
/// pages
///   of twice the size, which are fewer. What was taken of it is not delivered again, so a slow receiver gets farther each time. (The token
///   that comes with a 410 continues a list that is not of one moment; a watch could not follow on it.)
/// - A list has an end. One whose tokens lead in a circle, or to ever more pages without an object that is new, is given up.
class ListSteps {
 public:
  static constexpr unsigned tries_of_page_max = 8;
  /// As large as a page may become. With objects of the usual few KiB that are some ten MiB; larger ones meet the bound of an answer.
  static constexpr int size_max = 4000;
  /// So many pages a list has at most: with as many objects on each as are asked for first, 50 million.
  static constexpr std::size_t pages_max = 100'000;
  /// So many pages in a row may bring nothing new. An API server fills its pages, but for the last one.
  static constexpr std::size_t idle_pages_max = 100;

  explicit ListSteps(int size) : first_size_(size), size_(size) {}

  /// Of the next page.
  [[nodiscard]] int size() const { return size_; }

  enum class Step : std::uint8_t {
    again,  ///< The same page, after a pause.
    anew,   ///< The list from its beginning, after a pause.
    stop,   ///< Neither would help: the answer is about the kind, or us.
  };
  /// A page did not come. `is_first`: it had no token.
  [[nodiscard]] Step failed(const HttpAnswer& answer, bool is_first);
  /// The list begins.
  void begin() { pages_ = idle_pages_ = 0; }
  /// A page came.
  void came() { tries_ = 0; }
  /// It was taken, and leads to another; `new_objects` of it stood on no page before. Returns why the list is not to be read on; empty: it
  /// is.
  [[nodiscard]] std::string endless(std::size_t new_objects);
  /// The last page came: the next list begins as this one ended.
  void complete();

 private:
  int first_size_;
  int size_;
  void ask_for_more();

  unsigned tries_ = 0;
  std::size_t pages_ = 0;       ///< Of this list.
  std::size_t idle_pages_ = 0;  ///< In a row.
  bool was_halved_ = false;     ///< In this list: larger pages than now could not be had.
};

}  // namespace hindsight::connectors::kubernetes
