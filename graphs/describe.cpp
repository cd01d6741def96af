#include "graphs/describe.hpp"

#include "graphs/parameters.hpp"
#include "graphs/text_table.hpp"
#include "graphs/values.hpp"

namespace hyperframes {

namespace {

std::string types_of(const std::vector<port>& ports) {
  std::vector<std::string> words;
  for (const auto& p : ports)
    for (const auto t : p.types)
      words.emplace_back(to_string(t));
  return words.empty() ? "-" : join_words(words, ", ");
}

/// "integer, 1 to 4096 frames".
std::string kind_of(const parameter& p) {
  auto text = p.type == parameter_type::choice ? "one of " + join_words(p.choices, ", ")
              : p.type == parameter_type::list ? std::string{"list of "} + to_string(p.element)
                                               : std::string{to_string(p.type)};
  if (const auto range = range_in_words(p); !range.empty())
    text += ", " + range;
  else if (!p.unit.empty())
    text += ", " + p.unit;
  if (p.type == parameter_type::list && !p.choices.empty())
    text += ", each one of " + join_words(p.choices, ", ");
  return text;
}

std::string default_of(const parameter& p) {
  if (p.required)
    return "required";
  return p.initial                          ? "default " + write_value(*p.initial)
         : p.type == parameter_type::object ? ""
                                            : "default: unset";
}

std::string parameters_text(const std::vector<parameter>& parameters, const std::string& path) {
  std::string result;
  for (const auto& p : parameters) {
    const auto about = default_of(p);
    result +=
      "  " + path + p.name + "  (" + kind_of(p) + (about.empty() ? "" : "; " + about) + ")\n";
    result += wrap(
      p.help + (p.existing_file ? " Relative to the graph file's folder." : "")
        + (p.causes_wait ? " A frame may wait that long." : ""),
      6);
    result += parameters_text(p.fields, path + p.name + '.');
  }
  return result;
}

std::string ports_text(const char* title, const std::vector<port>& ports) {
  text_table table;
  for (const auto& p : ports)
    table.add({p.name, types_of({p}), p.help + (p.optional ? " (need not be taken)" : "")});
  return table.empty() ? std::string{} : std::string{title} + '\n' + table.text();
}

/// The least that must be written.
template <class Description>
std::string example_of(const Description& d) {
  std::string text = "{ type: " + d.name;
  for (const auto& p : d.parameters) {
    if (!p.required)
      continue;
    switch (p.type) {
      case parameter_type::integer:
      case parameter_type::number:
        text += ", " + p.name + ": " + write_number(p.least.value_or(1));
        break;
      case parameter_type::duration:
        text += ", " + p.name + ": 40ms";
        break;
      case parameter_type::bytes:
        text += ", " + p.name + ": 64MB";
        break;
      case parameter_type::size:
        text += ", " + p.name + ": 640x480";
        break;
      case parameter_type::boolean:
        text += ", " + p.name + ": true";
        break;
      case parameter_type::choice:
        text += ", " + p.name + ": " + p.choices.front();
        break;
      default:
        text += ", " + p.name + ": ...";
        break;
    }
  }
  return text;
}

template <class Description>
expected<const Description*>
find(const catalogue<Description>& known, const std::string& name, const char* what) {
  if (const auto* d = known.find(name))
    return d;
  std::vector<std::string> names;
  for (const auto& d : known.all())
    names.push_back(d->name);
  return make_error(
    errc::graph_invalid, name,
    std::string{"there is no "} + what + " '" + name + "': " + suggestion(name, names));
}

std::string parameters_section(const std::vector<parameter>& parameters) {
  return parameters.empty() ? "parameters: none\n"
                            : "parameters\n" + parameters_text(parameters, "");
}

} // namespace

std::string describe_stages(const catalogues& known) {
  text_table table(0);
  table.add({"STAGE", "TAKES", "GIVES", ""});
  for (const auto& d : known.stages.all())
    table.add(
      {d->name,
       d->inputs.size() == 1 && d->inputs[0].types.size() > 3
         ? "any of " + std::to_string(d->inputs[0].types.size())
         : types_of(d->inputs),
       types_of(d->outputs), d->summary});
  return table.text() + "\nhyperframes stages NAME tells of one in full.\n";
}

expected<std::string> describe_stage(const catalogues& known, const std::string& name) {
  const auto found = find(known.stages, name, "stage type");
  if (!found)
    return found.error();
  const auto& d = **found;
  auto text = d.name + '\n' + wrap(d.summary, 2) + '\n';
  text += ports_text(d.many_inputs ? "input, from one stage or several" : "input", d.inputs)
          + ports_text("outputs", d.outputs);
  text += '\n' + parameters_section(d.parameters);
  if (!d.inputs.empty())
    text += "\nedge (from: { stage: NAME, ... })\n" + parameters_text(edge_parameters(), "from.");
  return text + "\nexample\n  " + d.name + ": " + example_of(d)
         + (d.inputs.empty() ? "" : ", from: ...") + " }\n";
}

std::string describe_cameras(const catalogues& known) {
  text_table table(0);
  table.add({"CAMERA", ""});
  for (const auto& d : known.cameras.all())
    table.add({d->name, d->summary});
  return table.text() + "\nhyperframes cameras NAME tells of one in full.\n";
}

expected<std::string> describe_camera(const catalogues& known, const std::string& name) {
  const auto found = find(known.cameras, name, "camera");
  if (!found)
    return found.error();
  const auto& d = **found;
  return d.name + '\n' + wrap(d.summary, 2) + '\n' + parameters_section(d.parameters)
         + "\nevery stream\n" + parameters_text(stream_parameters(), "")
         + "\nexample\n  - { id: cam1, camera: " + example_of(d) + " } }\n";
}

} // namespace hyperframes
