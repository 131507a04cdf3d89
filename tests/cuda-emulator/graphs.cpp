// What a stream records, and its replays.
#include "driver.h"

using Graph = std::vector<Node>;

API Result cuStreamBeginCapture_v2(Stream* stream, int) {
  ONE_AT_A_TIME;
  note("cuStreamBeginCapture");
  if (recording) return illegal_state;
  stream->records = true;
  stream->broken = false;
  stream->recorded.clear();
  recording = stream;
  return success;
}

API Result cuStreamEndCapture(Stream* stream, Graph** graph) {
  ONE_AT_A_TIME;
  if (recording != stream) return illegal_state;
  stream->records = false;
  recording = nullptr;
  note("cuStreamEndCapture", std::to_string(stream->recorded.size()) + " nodes");
  *graph = nullptr;
  if (stream->broken) return capture_invalidated;
  *graph = new Graph(std::move(stream->recorded));
  return success;
}

API Result cuGraphGetNodes(Graph* graph, Node** nodes, size_t* count) {
  for (size_t i = 0; nodes && i < *count && i < graph->size(); i++) nodes[i] = &(*graph)[i];
  *count = graph->size();
  return success;
}

API Result cuGraphNodeGetType(Node* node, NodeType* type) {
  *type = node->type;
  return success;
}

API Result cuGraphInstantiateWithFlags(Graph** executable, Graph* graph, unsigned long long) {
  *executable = new Graph(*graph);
  return success;
}

API Result cuGraphUpload(Graph*, Stream*) { return success; }

API Result cuGraphLaunch(Graph* graph, Stream*) {
  ONE_AT_A_TIME;
  note("cuGraphLaunch", std::to_string(graph->size()) + " nodes");
  for (Node& node : *graph) {
    if (!node.run) return invalid_value;
    node.run();
  }
  return success;
}

API Result cuGraphDestroy(Graph* graph) {
  delete graph;
  return success;
}

API Result cuGraphExecDestroy(Graph* graph) {
  ONE_AT_A_TIME;
  note("cuGraphExecDestroy");
  delete graph;
  return success;
}
