#pragma once

#include "runtime/net/link_hub.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace hyperframes {

class link_end;

/// What all parts of a hub share. Outlives the hub where somebody keeps a link.
struct link_core {
  boost::asio::io_context io{1};
  link_settings settings;
  std::shared_ptr<boost::asio::ssl::context> opening, accepting; ///< null: no TLS

  /// The link that is expected under an id; null: none. Thread-safe, as are the next three.
  std::shared_ptr<link_end> expected_link(const link_id& id);
  /// @returns false where the id is expected already.
  bool expect(const link_id& id, std::shared_ptr<link_end> link);
  void keep(std::shared_ptr<link_end> link);
  void forget(const link_end& link);

  /// A connection was refused. @param from the peer's address, without its port.
  void reject(const std::string& from, const std::string& why);
  std::function<void(const std::string&)> on_rejected;
  std::function<void(const link_id&)> on_stranger; ///< null: nobody is welcome
  std::atomic<std::uint64_t> rejected{0};

  std::mutex mutex;
  std::map<link_id, std::shared_ptr<link_end>> expected; ///< guarded by `mutex`
  std::set<std::shared_ptr<link_end>> kept;              ///< guarded by `mutex`

private:
  static constexpr std::size_t told_at_most = 256;
  std::set<std::string> told_; ///< by the I/O thread alone
};

} // namespace hyperframes
