"""Tasks on pictures of digits: the network reads them, the unit computes, and no digit has a label."""
