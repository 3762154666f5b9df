"""What bench/compile_time/instantiations.py says of counts at, below and beyond their limits."""
import unittest

from instantiations import compare, owner

LIMITS = {"digits": {"classes": {"std": 80, "dice::graph": 20}, "functions": {}}}


def found(**classes):
    return {"digits": {"classes": {owner.replace("_", "::"): n for owner, n in classes.items()}, "functions": {}}}


class Comparison(unittest.TestCase):
    def test_a_tenth_more_is_allowed(self):
        self.assertEqual(compare(found(std=80, dice_graph=30), LIMITS), [])

    def test_more_is_told_with_what_grew_most_first(self):
        line, = compare(found(std=82, dice_graph=25, boost=9), LIMITS)
        self.assertEqual(line, "digits: 116 classes instantiated, limit 100 + 10 %; "
                               "grown most: boost 0 -> 9, dice::graph 20 -> 25, std 80 -> 82")

    def test_less_is_allowed(self):
        self.assertEqual(compare(found(std=10), LIMITS), [])

    def test_templates_belong_to_their_namespace(self):
        self.assertEqual(owner("dice::graph::detail::describe<net::network, net::relu1>"), "dice::graph")
        self.assertEqual(owner("dice::layers<net::a>"), "dice")
        self.assertEqual(owner("std::array<int, 3>::operator[]"), "std")
        self.assertEqual(owner(""), "others")


if __name__ == "__main__":
    unittest.main()
