"""Training: the baseline networks of ChaLearn's tracks 2 and 3, learnt from the items of a frozen dataset.

What is trained on is recorded beside the parameters, and the methods that use them refuse those items.
"""
