"""Training: `train`, `solve`, `attach`, and the trainers behind them."""
