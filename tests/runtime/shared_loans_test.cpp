#include "runtime/shared_loans.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

using namespace hyperframes;

TEST_CASE("a loan keeps its slot until it is returned") {
  buffer_pool pool{1, 8};
  loan_book book;
  const auto borrower = book.join();
  const auto loan = book.lend(borrower, pool.acquire());
  REQUIRE(loan);
  CHECK_FALSE(pool.acquire());
  CHECK(book.lent(borrower) == 1);
  CHECK(book.returned(borrower, *loan));
  CHECK(book.lent() == 0);
  CHECK(pool.acquire());
}

TEST_CASE("a return that meets no loan is counted and changes nothing") {
  buffer_pool pool{3, 8};
  loan_book book;
  const auto a = book.join(), b = book.join();
  const auto of_a = *book.lend(a, pool.acquire());
  const auto of_b = *book.lend(b, pool.acquire());
  CHECK_FALSE(book.returned(b, of_a)); // another's
  CHECK_FALSE(book.returned(a, 99));   // none's
  CHECK(book.ignored() == 2);
  CHECK(pool.in_use() == 2);
  CHECK(book.returned(a, of_a));
  CHECK_FALSE(book.returned(a, of_a)); // doubled
  CHECK(book.gone(b) == 1);
  CHECK_FALSE(book.returned(b, of_b)); // late
  CHECK(book.ignored() == 4);
  CHECK(pool.in_use() == 0);
}

TEST_CASE("what a borrower had comes back at once when it is gone, and no other's") {
  buffer_pool pool{4, 8};
  loan_book book;
  const auto a = book.join(), b = book.join();
  const auto twice = pool.acquire();
  for (const auto& buffer : {twice, twice, pool.acquire()})
    CHECK(book.lend(a, buffer));
  CHECK(book.lend(b, pool.acquire()));
  CHECK(book.lent(a) == 3);
  CHECK(book.gone(a) == 3);
  CHECK(book.gone(a) == 0);
  CHECK(book.lent(a) == 0);
  CHECK(book.lent() == 1);
  CHECK(twice.unique());
  CHECK(pool.in_use() == 2);
  CHECK_FALSE(book.lend(a, pool.acquire())); // and nothing more is lent to it
  CHECK(pool.in_use() == 2);
  CHECK(book.join() != a);
}

TEST_CASE("loans are made, returned and ended by many threads") {
  buffer_pool pool{8, 8};
  loan_book book;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        const auto borrower = book.join();
        for (int i = 0; i < 5; ++i)
          if (auto slot = pool.acquire())
            if (const auto loan = book.lend(borrower, std::move(slot)); loan && i % 2 == 0)
              book.returned(borrower, *loan);
        book.gone(borrower);
      }
    });
  for (auto& t : threads)
    t.join();
  CHECK(book.lent() == 0);
  CHECK(book.ignored() == 0);
  CHECK(pool.in_use() == 0);
}
