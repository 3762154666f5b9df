// A drawing of a plan without Graphviz. Ranks are columns, with their headings above all rows. Each row has the nodes and
// messages that follow, on the longest path, as many others; a line passes a row in a place of its own. So lines run only
// between rows and in their own places: they cross no node, no message's text and no heading.
#pragma once

#include "dice/report/drawn.hpp"
#include "dice/runtime/program.hpp"
#include "dice/text/foreign.hpp"
#include "dice/text/table.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dice::report {

namespace detail {

/// `text` as XML, shown as text::shown() shows it.
[[gnu::cold]] inline std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : text::shown(text)) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else out += c;
  }
  return out;
}

[[gnu::cold]] inline std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out;
  std::size_t end = 0;
  for (std::size_t at = 0; end != std::string_view::npos; at = end + 1) {
    end = text.find('\n', at);
    out.emplace_back(text.substr(at, end - at));
  }
  return out;
}

/// Builds the drawing; all lengths are in pixels.
class layered {
 public:
  [[gnu::cold]] explicit layered(const runtime::program& p) : program_(p), columns_(p.plan.ranks.size()) {
    list_items();
    add_lines();
    arrange();
  }

  [[gnu::cold]] std::string svg() const {
    const auto title = lines_of(title_of(program_));
    const double width = std::max(columns_.back().right, width_of(title)) + margin, height = row_ends_.back() + 2 * margin;
    std::string out =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) +
        "\" height=\"" + number(height) + "\" viewBox=\"0 0 " + number(width) + " " + number(height) +
        "\" font-family=\"sans-serif\" text-anchor=\"middle\">\n" + box("paper", 0, 0, width, height, "fill=\"white\"") +
        words("title", width / 2, margin + line_height * static_cast<double>(title.size()) / 2, 12, "black", title);
    for (const auto& r : program_.plan.ranks) {
      const auto& c = columns_[r.rank];
      const auto& [line, fill] = colours_of(r.rank);
      out += box("rank", c.left, title_height, c.right - c.left, row_ends_.back() + margin - title_height,
                 "rx=\"8\" fill=\"" + std::string(fill) + "\" stroke=\"" + line + "\"") +
             words("heading", (c.left + c.right) / 2, title_height + heading_height / 2, 12, line,
                   lines_of(heading_of(program_, r)));
    }
    for (const auto& i : items_)
      for (const int k : i.after) out += link(i, items_[k]);
    for (const auto& i : items_) {
      if (i.what == kind::layer)
        out += box("layer", i.x - i.width / 2, top(i), i.width, i.height,
                   "fill=\"white\" stroke=\"black\"" + std::string(i.rounded ? " rx=\"8\"" : ""));
      if (i.what != kind::line)
        out += words(i.what == kind::layer ? "layer" : "message", i.x, middle(i), i.what == kind::layer ? 11 : 10,
                     i.what == kind::layer ? "black" : colours_of(i.sender).line, i.text);
    }
    return out + "</svg>\n";
  }

 private:
  enum class kind : unsigned char { layer, message, line };
  /// What has a place in a row: a node, a message's text, or a line that passes.
  struct item {
    kind what = kind::line;
    int column = 0, row = 0;
    int sender = -1;  ///< of the message that its lines belong to, or -1
    std::vector<std::string> text{};
    bool rounded = false;
    double width = 8, height = 0, x = 0;  ///< x: its middle
    std::vector<int> before{}, after{};   ///< items of the neighbouring rows that lines join with it
  };
  struct extent {
    double left = 0, right = 0;
  };
  static constexpr double margin = 8, line_height = 14, row_gap = 32, title_height = 2 * line_height + 2 * margin,
                          heading_height = 3 * line_height + 2 * margin;

  [[gnu::cold]] static double width_of(const std::vector<std::string>& lines) {
    std::size_t most = 0;
    for (const auto& line : lines) {
      const auto shown = text::shown(line);
      most = std::max(most, static_cast<std::size_t>(
                                std::count_if(shown.begin(), shown.end(), [](char c) { return (c & 0xc0) != 0x80; })));
    }
    return 7 * static_cast<double>(most) + 2 * margin;  // wider than most characters
  }

  [[gnu::cold]] int add(kind what, int column, std::vector<std::string> text) {
    item i{.what = what, .column = column};
    i.width = width_of(text);
    i.height = line_height * static_cast<double>(text.size()) + (what == kind::layer ? margin : 0);
    i.text = std::move(text);
    items_.push_back(std::move(i));
    return static_cast<int>(items_.size()) - 1;
  }
  item& at(int i) { return items_[i]; }

  /// Nodes and messages, and in `after` the items that read them; all readers of an item come after it.
  [[gnu::cold]] void list_items() {
    const auto all = nodes_of(program_);
    const auto& owner = program_.plan.owner;
    const int n = static_cast<int>(all.text.size());
    std::vector<int> item_of(all.text.size(), -1);
    std::vector<std::vector<int>> readers;  // nodes, of each item
    const auto arrows = arrows_of(program_, all);
    for (int l = 0; l < n; ++l) {
      const auto& layer = program_.layers.layers[l];
      if (all.text[l].empty()) continue;
      item_of[l] = add(kind::layer, owner[l], lines_of(all.text[l]));
      items_.back().rounded = layer.is_input || layer.is_output;
      readers.emplace_back();
      for (const auto& e : program_.layers.edges) {
        const int from = all.of_layer[e.from], to = all.of_layer[e.to];
        if (from == l && to != l && owner[to] == owner[l]) readers.back().push_back(to);
      }
      for (const auto& a : arrows) {
        if (a.node != l) continue;
        const int message = add(kind::message, a.to, {a.text});
        items_.back().sender = a.from;
        at(item_of[l]).after.push_back(message);
        readers.push_back(a.readers);
      }
    }
    for (std::size_t i = 0; i < items_.size(); ++i) {
      auto& after = items_[i].after;
      for (const int l : readers[i])
        if (std::find(after.begin(), after.end(), item_of[l]) == after.end()) after.push_back(item_of[l]);
      for (const int k : after) at(k).row = std::max(at(k).row, items_[i].row + 1);
    }
  }

  /// Lines to the readers of an item that are not in the next row pass the rows between together.
  [[gnu::cold]] void add_lines() {
    const int n = static_cast<int>(items_.size());
    for (int i = 0; i < n; ++i) {
      const auto readers = std::move(at(i).after);
      at(i).after = {};
      std::vector<int> passing{i};  // by row
      for (const int k : readers) {
        const auto rows = static_cast<std::size_t>(at(k).row - at(i).row);
        while (passing.size() < rows) {
          const int line = static_cast<int>(items_.size());
          items_.push_back(
              {.column = at(i).column, .row = at(i).row + static_cast<int>(passing.size()), .sender = at(i).sender});
          join(passing.back(), line);
          passing.push_back(line);
        }
        join(passing[rows - 1], k);
      }
    }
  }
  void join(int above, int below) {
    at(above).after.push_back(below);
    at(below).before.push_back(above);
  }

  /// Places all items. In each column, a row's items are ordered by the middle of the items that they are joined with.
  [[gnu::cold]] void arrange() {
    std::map<std::pair<int, int>, std::vector<int>> cells;  // by row and column
    for (std::size_t i = 0; i < items_.size(); ++i) cells[{items_[i].row, items_[i].column}].push_back(static_cast<int>(i));
    const auto width = [&](const std::vector<int>& cell) {
      double out = -margin;
      for (const int i : cell) out += at(i).width + margin;
      return out;
    };
    for (const auto& r : program_.plan.ranks) columns_[r.rank].right = width_of(lines_of(heading_of(program_, r)));
    for (const auto& [where, cell] : cells) {
      auto& right = columns_[where.second].right;
      right = std::max(right, width(cell) + 2 * margin);
    }
    double left = margin;
    for (auto& c : columns_) {
      c = {left, left + c.right};
      left = c.right + 2 * margin;
    }

    const auto place = [&](const std::vector<int>& cell) {
      const auto& c = columns_[at(cell[0]).column];
      double x = (c.left + c.right - width(cell)) / 2;
      for (const int i : cell) {
        at(i).x = x + at(i).width / 2;
        x += at(i).width + margin;
      }
    };
    const auto order = [&](std::vector<int>& cell, bool down) {
      const auto preferred = [&](int i) {
        const auto& others = down ? at(i).before : at(i).after;
        double sum = 0;
        for (const int k : others) sum += at(k).x;
        return others.empty() ? at(i).x : sum / static_cast<double>(others.size());
      };
      std::stable_sort(cell.begin(), cell.end(), [&](int a, int b) { return preferred(a) < preferred(b); });
      place(cell);
    };
    for (const auto& [where, cell] : cells) place(cell);
    for (int sweep = 0; sweep < 4; ++sweep) {
      for (auto& [where, cell] : cells) order(cell, true);
      for (auto c = cells.rbegin(); c != cells.rend(); ++c) order(c->second, false);
    }

    for (const auto& i : items_) {
      const auto row = static_cast<std::size_t>(i.row);
      if (row_heights_.size() <= row) row_heights_.resize(row + 1);
      row_heights_[row] = std::max(row_heights_[row], i.height);
    }
    double y = title_height + heading_height;
    for (const double h : row_heights_) {
      row_ends_.push_back(y + h);
      y += h + row_gap;
    }
  }

  double row_end(const item& i) const { return row_ends_[i.row]; }
  double row_begin(const item& i) const { return row_end(i) - row_heights_[i.row]; }
  double middle(const item& i) const { return (row_begin(i) + row_end(i)) / 2; }
  double top(const item& i) const { return middle(i) - i.height / 2; }

  static std::string number(double x) { return text::number_text(x, "%.1f"); }
  [[gnu::cold]] static std::string box(const char* name, double x, double y, double width, double height,
                                       const std::string& how) {
    return "<rect class=\"" + std::string(name) + "\" x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" +
           number(width) + "\" height=\"" + number(height) + "\" " + how + "/>\n";
  }
  /// Lines of text around (x, y).
  [[gnu::cold]] static std::string words(const char* name, double x, double y, int size, const char* colour,
                                         const std::vector<std::string>& lines) {
    std::string out =
        "<text class=\"" + std::string(name) + "\" font-size=\"" + std::to_string(size) + "\" fill=\"" + colour + "\">";
    y += size * 0.35 - line_height * static_cast<double>(lines.size() - 1) / 2;
    for (const auto& line : lines) {
      out += "<tspan x=\"" + number(x) + "\" y=\"" + number(y) + "\">" + xml_text(line) + "</tspan>";
      y += line_height;
    }
    return out + "</text>\n";
  }
  /// The line between items of neighbouring rows: it bends between the rows.
  [[gnu::cold]] std::string link(const item& from, const item& to) const {
    const int sender = std::max(from.sender, to.what == kind::message ? to.sender : -1);
    const bool bold = sender >= 0, points = to.what == kind::layer;
    const std::string colour = bold ? colours_of(sender).line : "black";
    const double begin = row_end(from), end = row_begin(to), y = top(to);
    const auto bend = number((begin + end) / 2);
    return "<path class=\"" + std::string(bold ? "message" : "line") + "\" d=\"M" + number(from.x) + "," +
           number(top(from) + from.height) + "V" + number(begin) + "C" + number(from.x) + "," + bend + " " + number(to.x) +
           "," + bend + " " + number(to.x) + "," + number(end) + "V" + number(y) + "\" fill=\"none\" stroke=\"" + colour +
           "\" stroke-width=\"" + (bold ? "2" : "1") + "\"/>\n" +
           (points ? "<path class=\"tip\" d=\"M" + number(to.x) + "," + number(y) + "l-4,-7h8z\" fill=\"" + colour + "\"/>\n"
                   : "");
  }

  const runtime::program& program_;
  std::vector<item> items_;
  std::vector<extent> columns_;  ///< of each rank
  std::vector<double> row_heights_, row_ends_;
};

}  // namespace detail

/// The plan as an SVG drawing.
[[gnu::cold]] inline std::string layered_svg(const runtime::program& p) { return detail::layered(p).svg(); }

}  // namespace dice::report
