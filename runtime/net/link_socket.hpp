#pragma once

#include "runtime/net/link.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <optional>
#include <string>

namespace hyperframes {

/// The IP address that `host` is; "localhost" is 127.0.0.1. @returns none where it is another name.
std::optional<boost::asio::ip::address> address_of(const std::string& host);

/// Sends what is written at once; what is in `control` overtakes the rest in this machine's queues.
void prepare(boost::asio::ip::tcp::socket& socket, lane on);

} // namespace hyperframes
