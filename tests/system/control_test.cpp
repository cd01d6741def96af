// Requests to a run by its socket file.
#include "tests/system/folder.hpp"
#include "tests/system/process.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <string>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

using namespace hyperframes::test;

namespace {

const std::string live_graph =
  "hyperframes: 1\n"
  "streams:\n"
  "  - { id: \"cam{1..2}\", camera: { type: synthetic, scene: counter, size: 16x16, fps: 50 } }\n"
  "stages:\n"
  "  capture: { type: capture }\n"
  "  nothing: { type: \"null\", from: capture }\n";

struct run_with_socket {
  test_folder folder;
  std::string graph_;
  process run;

  explicit run_with_socket(const std::string& graph = live_graph)
    : graph_(graph), run{{HYPERFRAMES_COMMAND, "run", written(), "--control", folder / "socket"}, folder.path()} {
    run.wait_until([this] { return std::filesystem::is_socket(folder / "socket"); });
  }
  std::string written() const {
    write_file(folder / "graph.yaml", graph_);
    return folder / "graph.yaml";
  }
  finished_process ask(std::vector<std::string> request) {
    request.insert(request.begin(), {HYPERFRAMES_COMMAND, "control", folder / "socket"});
    return finish(request, folder.path());
  }
};

} // namespace

TEST_CASE("a run lets cameras go and come as it is told, and drains") {
  run_with_socket r;
  CHECK(r.ask({"remove", "cam1"}).status == 0);
  r.run.wait_until([&] { return r.ask({"streams"}).out.find("cam1  no camera") != std::string::npos; });
  CHECK(r.ask({"streams"}).out.find("cam2  camera") != std::string::npos);
  CHECK(r.ask({"remove", "cam1"}).out == "cam1 has no camera\n");
  CHECK(r.ask({"add", "cam2"}).out == "cam2 has its camera already\n");
  CHECK(r.ask({"add", "cam1"}).out == "");
  r.run.wait_until([&] { return r.ask({"streams"}).out.find("cam1  camera") != std::string::npos; });
  CHECK(r.ask({"metrics"}).out.find("hyperframes_captured_frames") != std::string::npos);
  CHECK(r.ask({"drain"}).status == 0);
  CHECK(r.run.wait() == 0);
  CHECK(r.run.out().find("ledger closed") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(r.folder / "socket"));
  const auto late = r.ask({"streams"});
  CHECK(late.status == 2);
  CHECK(late.err.find("no run can be reached there") != std::string::npos);
}

TEST_CASE("what is wrong with a request is said in a sentence, and harms nobody") {
  run_with_socket r;
  const auto unknown = r.ask({"ad", "cam1"});
  CHECK(unknown.status == 2);
  CHECK(unknown.err.find("'ad' is no request") != std::string::npos);
  CHECK(unknown.err.find("did you mean 'add'?") != std::string::npos);
  CHECK(r.ask({"add", "cam3"}).err.find("'cam3' is no stream of this graph") != std::string::npos);
  CHECK(r.ask({"add"}).err.find("add needs the id of a stream") != std::string::npos);
  CHECK(r.ask({"streams", "cam1"}).err.find("streams takes nothing behind it") != std::string::npos);
  // A client that sends no end of a line, and one that only opens.
  for (const bool talks : {true, false}) {
    const int client = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto path = r.folder / "socket";
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    REQUIRE(::connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    if (talks) {
      const std::string endless(100'000, 'x');
      (void)!::send(client, endless.data(), endless.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    CHECK(r.ask({"streams"}).status == 0);
    ::close(client);
  }
  CHECK(r.ask({"stop"}).status == 0);
  CHECK(r.run.wait() == 0);
}

TEST_CASE("a run on the virtual clock takes no requests, and says so") {
  const test_folder folder;
  write_file(folder / "graph.yaml", live_graph);
  const auto run = finish(
    {HYPERFRAMES_COMMAND, "run", folder / "graph.yaml", "--clock", "virtual", "--control", folder / "socket"},
    folder.path());
  CHECK(run.status == 2);
  CHECK(run.err.find("a virtual one is over before a request could reach it") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "socket"));
}

TEST_CASE("a socket belongs to one run and to its user; what a dead one left is taken over") {
  run_with_socket r;
  struct stat about {};
  REQUIRE(::stat((r.folder / "socket").c_str(), &about) == 0);
  CHECK((about.st_mode & 077) == 0);
  const auto second = finish({HYPERFRAMES_COMMAND, "run", r.folder / "graph.yaml", "--control", r.folder / "socket"},
                             r.folder.path());
  CHECK(second.status == 2);
  CHECK(second.err.find("another run listens there") != std::string::npos);
  r.run.signal(SIGKILL);
  r.run.wait();
  CHECK(std::filesystem::is_socket(r.folder / "socket"));
  process third{{HYPERFRAMES_COMMAND, "run", r.folder / "graph.yaml", "--control", r.folder / "socket"},
                r.folder.path()};
  third.wait_until([&] { return r.ask({"streams"}).status == 0; });
  CHECK(r.ask({"drain"}).status == 0);
  CHECK(third.wait() == 0);
}

TEST_CASE("the end does not wait long for a worker that hangs, and says what it waits for") {
  for (const std::string word : {"stop", "drain"}) {
    CAPTURE(word);
    run_with_socket r{
      "hyperframes: 1\n"
      "streams:\n"
      "  - { id: cam, camera: { type: synthetic, scene: counter, size: 16x16, fps: 50 } }\n"
      "stages:\n"
      "  capture: { type: capture }\n"
      "  bundle: { type: bundle, from: capture, size: 4 }\n"
      "  schedule: { type: schedule, from: bundle }\n"
      "  infer: { type: infer, from: schedule, backend: simulated, hang_after: 1h, faults: [ { kind: hang, at: [0] } ] }\n"
      "  unbundle: { type: unbundle, from: infer }\n"
      "  nothing: { type: \"null\", from: unbundle }\n"};
    r.run.wait_until([&] {
      return r.ask({"metrics"}).out.find("holder=\"infer\",pool=\"tensors of bundle\"") != std::string::npos;
    });
    CHECK(r.ask({word}).status == 0);
    CHECK(r.run.wait() == 0);
    CHECK(r.run.out().find("ledger closed") != std::string::npos);
    CHECK(r.run.out().find("left behind in a call that hangs: infer, worker 0") != std::string::npos);
    const bool drains = word == "drain";
    const auto tells = [&](const std::string& text) { return r.run.err().find(text) != std::string::npos; };
    CHECK(tells("draining, for 10s at the most; a client asked for it") == drains);
    CHECK(tells("what is not done in time is stopped: ") == drains);
    CHECK(tells("infer has ") == drains);
    CHECK_FALSE(tells("has come back"));
  }
}
