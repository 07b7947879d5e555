"""The grid world of Trask et al. 2018, section 4.5: its rules, its pictures, and the task made of them."""
