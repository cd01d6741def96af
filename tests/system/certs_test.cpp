// The command `certs` as a process.
#include "tests/system/folder.hpp"
#include "tests/system/process.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace hyperframes::test;

namespace {

finished_process certs(const test_folder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {HYPERFRAMES_COMMAND, "certs"});
  return finish(arguments, folder.path());
}

} // namespace

TEST_CASE("certs: two commands make what a deployment needs") {
  const test_folder folder;
  const auto authority = certs(folder, {"init"});
  CHECK(authority.err == "");
  CHECK(authority.status == 0);
  CHECK(
    authority.out
    == "certs/ca.pem: the authority of a deployment, valid for 3650 days; its key stays on this "
       "machine\n");
  const auto issued = certs(folder, {"issue", "n1", "--host", "10.0.0.2", "--host", "n1.example"});
  CHECK(issued.err == "");
  CHECK(issued.status == 0);
  CHECK(
    issued.out
    == "certs/n1.pem, certs/n1.key: the process n1, valid for 365 days; it needs certs/ca.pem "
       "beside "
       "them\n");
  for (const auto* file : {"ca.pem", "ca.key", "n1.pem", "n1.key"})
    CHECK(std::filesystem::file_size(folder / ("certs/" + std::string{file})) > 100);
  CHECK(certs(folder, {"init", "--folder", "other", "--days", "2"}).status == 0);
  CHECK(certs(folder, {"issue", "n1", "--folder", "other", "--days", "1"}).status == 0);
}

TEST_CASE("certs: what cannot be made is said, and nothing is replaced") {
  const test_folder folder;
  REQUIRE(certs(folder, {"init"}).status == 0);
  REQUIRE(certs(folder, {"issue", "n1"}).status == 0);
  const auto key = content_of(folder / "certs/n1.key");
  const auto again = certs(folder, {"issue", "n1"});
  CHECK(again.status == 1);
  CHECK(
    again.err
    == "error: certs/n1.pem: is there already and stays as it is; use another name or folder, or "
       "remove the certificate and its key first\n");
  CHECK(content_of(folder / "certs/n1.key") == key);
  CHECK(certs(folder, {"init"}).status == 1);
  CHECK(certs(folder, {"issue", "../n"}).status == 2);
  CHECK(certs(folder, {"issue", "n2", "--days", "0"}).status == 2);
  const auto option = certs(folder, {"issue", "n2", "--hots", "x"});
  CHECK(option.status == 2);
  CHECK(option.err == "error: --hots: `issue` has no such option: did you mean '--host'?\n");
  CHECK(certs(folder, {}).status == 2);
}
