"""Tests of training; none needs the base model, the network or a GPU."""
