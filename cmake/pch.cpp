// A precompiled header needs a source that carries it. Those of the libraries, of torch and of the tests share this one.
