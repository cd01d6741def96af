#pragma once

#include "graphs/graph.hpp"

#include <chrono>
#include <concepts>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace hyperframes {

struct document_node;

/// A value as it would stand in a graph file: made from what C++ has for it.
class graph_value {
public:
  graph_value(bool b) : text_(b ? "true" : "false") {}
  template <std::integral T>
  graph_value(T n) : text_(std::to_string(n)) {}
  graph_value(double n);
  graph_value(const char* text) : text_(text) {}
  graph_value(std::string text) : text_(std::move(text)) {}
  graph_value(duration d);
  template <class Rep, class Period>
  graph_value(std::chrono::duration<Rep, Period> d)
    : graph_value(std::chrono::duration_cast<duration>(d)) {}
  graph_value(pixel_size size);
  graph_value(std::initializer_list<graph_value> entries) : list_(entries), is_list_(true) {}

private:
  friend class graph_builder;
  std::string text_;
  std::vector<graph_value> list_;
  bool is_list_ = false;
};

/// Builds a graph in code. It goes through the same checks as a file, with the path of a value
/// (`stages.bundle.size`) where a file would have line and column.
///
///   graph_builder g{"inspection"};
///   g.set("latency_budget", 500ms);
///   g.stream("cam{1..4}", "push").set("size", "640x480").group("station");
///   g.stage("capture", "capture");
///   g.stage("bundle", "bundle").from("capture").set("size", 8).set("release.timeout", 300ms);
///   ...
///   auto result = g.check(built_in());
///
/// Nothing throws and nothing is checked before `check`. Not thread-safe.
class graph_builder {
public:
  explicit graph_builder(std::string name);
  graph_builder(graph_builder&&) noexcept;
  graph_builder& operator=(graph_builder&&) noexcept;
  ~graph_builder();

  /// How an edge is set where it ends; what is left empty takes its default.
  struct edge {
    std::string port{};
    std::uint32_t capacity = 0;
    std::uint64_t capacity_bytes = 0;
    std::string overflow{};
  };

  /// One stream; valid as long as its builder.
  class stream_entry {
  public:
    stream_entry& group(std::string name);
    stream_entry& priority(std::int32_t p);
    /// A parameter of its camera; `path` may lead into objects, with dots.
    stream_entry& set(const std::string& path, const graph_value& value);

  private:
    friend class graph_builder;
    stream_entry(graph_builder& builder, std::size_t index) : builder_(&builder), index_(index) {}
    graph_builder* builder_;
    std::size_t index_;
  };

  /// One stage; valid as long as its builder.
  class stage_entry {
  public:
    /// Takes the items of another stage; may be called again where a stage has several inputs.
    stage_entry& from(std::string stage, edge how);
    stage_entry& from(std::string stage);
    stage_entry& set(const std::string& path, const graph_value& value);

  private:
    friend class graph_builder;
    stage_entry(graph_builder& builder, std::string name)
      : builder_(&builder), name_(std::move(name)) {}
    graph_builder* builder_;
    std::string name_;
  };

  /// A key at the top: latency_budget, memory, seed.
  graph_builder& set(const std::string& path, const graph_value& value);
  stream_entry stream(std::string id, std::string camera);
  stage_entry stage(std::string name, std::string type);

  /// Checks everything, as `read_graph_text` does with a file.
  /// @param folder that relative paths start from.
  read_result check(
    const catalogues& known, const std::string& folder = ".",
    const graph_options& options = {}) const;

private:
  document_node& at(const std::string& path);
  void put(const std::string& path, const graph_value& value);

  std::string name_;
  std::unique_ptr<document_node> root_;
  std::vector<fault> faults_;
};

} // namespace hyperframes
