// EventLoops
