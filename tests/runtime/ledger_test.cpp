#include "runtime/ledger.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace hyperframes;

TEST_CASE("a stream with two settling stages has two accounts") {
  ledger accounts{3, {{1, 2}, {2}}};
  accounts.captured(0, 10);
  accounts.captured(1, 4);
  accounts.settled(1, {0, 0, 0, 7, outcome::delivered, reason::none});
  accounts.settled(1, {0, 0, 7, 3, outcome::dropped, reason::edge_full});
  accounts.settled(2, {0, 0, 0, 9, outcome::expired, reason::ttl});
  accounts.settled(2, {1, 0, 0, 4, outcome::delivered, reason::late});

  const auto first = accounts.stream(0);
  CHECK(first.captured == 20);
  CHECK(first.ended() == 19);
  CHECK(first.outcomes[static_cast<std::size_t>(outcome::expired)] == 9);
  CHECK(first.reasons[static_cast<std::size_t>(reason::edge_full)] == 3);

  CHECK(accounts.settler(1).captured == 10);
  CHECK(accounts.settler(1).ended() == 10);
  CHECK(accounts.settler(2).captured == 14);
  CHECK(accounts.settler(2).ended() == 13);
  CHECK(accounts.total().captured == 24);
}

TEST_CASE("an account that does not exist cannot be written") {
  const ledger accounts{2, {{1}}};
  CHECK_THROWS_AS((void)accounts.stream(5), std::out_of_range);
}
