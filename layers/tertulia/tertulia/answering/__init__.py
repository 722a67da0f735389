"""How a question is answered: the graph, its nodes, the routing and the prompts."""
