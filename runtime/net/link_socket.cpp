#include "runtime/net/link_socket.hpp"

#include <sys/socket.h>

namespace hyperframes {

namespace asio = boost::asio;

std::optional<asio::ip::address> address_of(const std::string& host) {
  boost::system::error_code e;
  const auto address = asio::ip::make_address(host == "localhost" ? "127.0.0.1" : host, e);
  return e ? std::nullopt : std::optional{address};
}

void prepare(asio::ip::tcp::socket& socket, lane on) {
  // Neither is needed for the link to work.
  boost::system::error_code ignored;
  socket.set_option(asio::ip::tcp::no_delay{true}, ignored);
  if (constexpr int interactive = 6; on == lane::control)
    ::setsockopt(socket.native_handle(), SOL_SOCKET, SO_PRIORITY, &interactive, sizeof interactive);
}

} // namespace hyperframes
